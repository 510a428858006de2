// The product of a sparse matrix (compressed rows) and a vector: each lane takes a row of its own.
//
// Rows differ in length, so lanes leave the loop at different times: the loop runs as long as the longest row of the gang.

/// y = A*x for a matrix of `rows` rows. Row r holds the entries from starts[r] up to starts[r + 1]; entry k has the value
/// values[k] in column columns[k].
export void spmv(uniform int rows, const uniform int starts[], const uniform int columns[],
                 const uniform float values[], const uniform float x[], uniform float y[])
{
    foreach (row = 0 ... rows) {
        float sum = 0;
        int end = starts[row + 1];
        for (int k = starts[row]; k < end; ++k)
            sum += values[k] * x[columns[k]];       // gathers: each lane has its own k
        y[row] = sum;
    }
}
