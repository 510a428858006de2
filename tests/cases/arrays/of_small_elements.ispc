// Arrays of bytes.
//~ run: f() out[i] == u8(i * 5)
export void f(uniform uint8 out[]) {
    uniform uint8 t[64];
    foreach (i = 0 ... 64) t[i] = i * 5;
    foreach (i = 0 ... 64) out[i] = t[i];
}
