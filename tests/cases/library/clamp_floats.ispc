// `clamp` of floats; NaN becomes the lower bound.
//~ run: f(a=fill(i - 32)) out[i] == max(min(i - 32, 10.5), -7.25)
//~ run: g(x=nan) result == -7.25
export void f(uniform float a[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = clamp(a[i], -7.25, 10.5);
}
export uniform float g(uniform float x) { return clamp(x, -7.25, 10.5); }
