// A sparse matrix in compressed rows times a vector, a row per lane: rows differ in length.
export void spmv(uniform int rows, const uniform int first[], const uniform int column[], const uniform float value[],
                 const uniform float x[], uniform float y[]) {
    foreach (row = 0 ... rows) {
        float sum = 0;
        int end = first[row + 1];
        for (int k = first[row]; k < end; ++k)
            sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}
