// Products that do not fit stop at the limits.
//~ run: f(a=fill(i * 8 - 256)) out[i] == max(min((i * 8 - 256) * 200, 32767), -32768)
export void f(uniform int16 a[], uniform int16 out[]) {
    foreach (i = 0 ... 64) {
        int16 b = 200;
        out[i] = saturating_mul(a[i], b);
    }
}
