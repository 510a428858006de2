// Classification of doubles and float16.
//~ run: f(a=[nan, inf, 1.0], b=[nan, inf, 1.0]) x[i] == (i == 0); y[i] == (i == 1)
export void f(uniform double a[], uniform float16 b[], uniform bool x[], uniform bool y[]) {
    foreach (i = 0 ... 3) {
        x[i] = isnan(a[i]) && isnan(b[i]);
        y[i] = isinf(a[i]) && isinf(b[i]);
    }
}
