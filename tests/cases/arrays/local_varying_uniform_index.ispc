// An array of varying values: one value per lane and element.
//~ run: f() out[i] == (i < W ? 10 * i + 0 + 1 + 2 + 3 + 4 : 0)
export void f(uniform int out[]) {
    int t[5];
    for (uniform int k = 0; k < 5; ++k) t[k] = programIndex * 2 + k;
    int sum = 0;
    for (uniform int k = 0; k < 5; ++k) sum += t[k];
    out[programIndex] = sum;
}
