// Each cast of a chain has its effect.
//~ run: f(a=fill(i * 17.9)) out[i] == u8(i * 17 + (i * 9) / 10)
export void f(uniform float a[], uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = (int)(uint8)(int)a[i];
}
