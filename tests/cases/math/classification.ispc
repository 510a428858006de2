// isnan, isinf and isfinite.
//~ run: f(a=[nan, inf, -inf, 0.0, 1e-42, 3e38]) out[i] == (i == 0 ? 1 : i < 3 ? 2 : i < 6 ? 4 : 0)
export void f(uniform float a[], uniform int out[]) {
    foreach (i = 0 ... 6) {
        int bits = 0;
        if (isnan(a[i])) bits += 1;
        if (isinf(a[i])) bits += 2;
        if (isfinite(a[i])) bits += 4;
        out[i] = bits;
    }
}
