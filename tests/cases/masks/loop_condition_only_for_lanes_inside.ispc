// Lanes that have left a loop no longer evaluate its condition: their index has run out of the array.
//~ run: f(a=fill(5 - i):6) out[i] == (i < W ? 5 - min(i, 5) : 0)
export void f(uniform int a[], uniform int out[]) {
    int k = min(programIndex, 5), n = 0;
    while (a[k++] > 0) ++n;
    out[programIndex] = n;
}
