// `clamp` keeps a value between two bounds.
//~ run: f(a=fill(i - 32)) out[i] == max(min(i - 32, 10), -7)
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = clamp(a[i], -7, 10);
}
