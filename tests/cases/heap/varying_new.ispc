// One allocation per lane, each with its own length.
//~ run: f() out[i] == (i < W ? i * (i + 1) / 2 : 0)
export void f(uniform int out[]) {
    int n = programIndex + 1;
    int *p = new int[n];
    for (int k = 0; k < n; ++k) p[k] = k;
    int sum = 0;
    for (int k = 0; k < n; ++k) sum += p[k];
    delete[] p;
    out[programIndex] = sum;
}
