// Arrays of booleans.
//~ run: f() out[i] == (i % 3 == 0)
export void f(uniform bool out[]) {
    uniform bool t[64];
    foreach (i = 0 ... 64) t[i] = i % 3 == 0;
    foreach (i = 0 ... 64) out[i] = t[i];
}
