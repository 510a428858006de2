// A signed shift to the right copies the sign.
//~ run: f(a=fill(i - 32)) out[i] == i - 32 >> 2
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = a[i] >> 2;
}
