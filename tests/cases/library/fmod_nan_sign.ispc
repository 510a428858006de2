// The NaN of fmod has the sign of the dividend, which signbits shows; other NaNs are positive, and arithmetic forgets the sign.
//~ run: f(x=[inf, -inf, 5, -5, 0, -0.0, 5, -5], y=[2, 2, 0, 0, 0, -0.0, 3, 3]) s[i] == (i >= 8 || i % 2 == 0 ? 0 : 2147483648)
//~ also: d[i] == (i >= 8 || i % 2 == 0 ? 0 : 9223372036854775808); h[i] == (i >= 8 || i % 2 == 0 ? 0 : 32768)
//~ also: n[i] == (i < 6 ? 1 : 0); b[i] == (i < 6 ? 2143289344 : 0); a[i] == 0; z[i] == (i < 8 ? 1 : 0)
//~ same-bits-at-every-width
export void f(uniform float x[], uniform float y[], uniform uint32 s[], uniform uint64 d[], uniform uint16 h[],
              uniform int n[], uniform uint32 b[], uniform uint32 a[], uniform int z[]) {
    foreach (i = 0 ... 8) {
        float r = fmod(x[i], y[i]);
        s[i] = signbits(r);
        d[i] = signbits(fmod((double)x[i], (double)y[i]));
        h[i] = signbits(fmod((float16)x[i], (float16)y[i]));
        n[i] = isnan(r) ? 1 : 0;
        b[i] = isnan(r) ? intbits(r) : 0;
        a[i] = isnan(r) ? signbits(r + 1) | signbits(r * r) | signbits(sqrt(r)) : 0;
        float zero = y[i] - y[i];
        z[i] = signbits(zero / zero) == 0 ? 1 : 0;
    }
}
