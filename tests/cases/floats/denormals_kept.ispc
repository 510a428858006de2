// The smallest numbers are not flushed to zero.
//~ run: f(a=[1e-40, -1e-42, 1.4e-45, 1e-38]) half[i] == (i < 4 ? f32(f32(a[i]) * 0.5) : 0.0); same[i] == (i < 4 ? a[i] : 0.0)
export void f(uniform float a[], uniform float half[], uniform float same[]) {
    foreach (i = 0 ... 4) {
        half[i] = a[i] * 0.5;
        same[i] = a[i] + 0.0;
    }
}
