// A local array of uniform values.
//~ run: f() out[i] == (i < 16 ? i * 3 : 0)
export void f(uniform int out[]) {
    uniform int t[16];
    for (uniform int k = 0; k < 16; ++k) t[k] = k * 3;
    foreach (i = 0 ... 16) out[i] = t[i];
}
