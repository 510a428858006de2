// The sign bit alone.
//~ run: f(a=[-1.0, 1.0, -0.0, 0.0]) out[i] == (i == 0 || i == 2 ? 0x80000000 : 0)
export void f(uniform float a[], uniform uint32 out[]) {
    foreach (i = 0 ... 4) out[i] = signbits(a[i]);
}
