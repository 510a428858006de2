// Whatever is not zero is true; NaN is, negative zero is not.
//~ run: f(a=[0, 1, -1, 256], b=[0.0, -0.0, 0.25, nan]) p[i] == (i >= 1 && i < 4); q[i] == (i == 2 || i == 3)
export void f(uniform int a[], uniform float b[], uniform bool p[], uniform bool q[]) {
    foreach (i = 0 ... 4) {
        p[i] = a[i];
        q[i] = b[i];
    }
}
