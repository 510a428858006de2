// Each lane takes its side; a side is not evaluated in the lanes that do not take it.
//~ run: f(a=iota) out[i] == (i == 0 ? -1 : 100 / i)
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64)
        out[i] = a[i] == 0 ? -1 : 100 / a[i];
}
