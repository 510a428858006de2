// A local array without initialiser is zero.
//~ run: f() out[i] == 0
export void f(uniform int out[]) {
    uniform int t[64];
    foreach (i = 0 ... 64) out[i] = t[i];
}
