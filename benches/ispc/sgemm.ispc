// c = a*b for square matrices, four rows at a time, so that each vector of b that is loaded serves four sums.
export void sgemm(uniform int n, const uniform float a[], const uniform float b[], uniform float c[]) {
    for (uniform int row = 0; row < n; row += 4) {
        foreach (column = 0 ... n) {
            float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
            for (uniform int k = 0; k < n; ++k) {
                float v = b[k * n + column];
                c0 += a[row * n + k] * v;
                c1 += a[(row + 1) * n + k] * v;
                c2 += a[(row + 2) * n + k] * v;
                c3 += a[(row + 3) * n + k] * v;
            }
            c[row * n + column] = c0;
            c[(row + 1) * n + column] = c1;
            c[(row + 2) * n + column] = c2;
            c[(row + 3) * n + column] = c3;
        }
    }
}
