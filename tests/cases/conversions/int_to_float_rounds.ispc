// Integers that a float cannot hold are rounded to nearest, ties to even.
//~ run: f(a=fill(16777216 + i)) out[i] == f32(16777216 + i)
export void f(uniform int a[], uniform float out[]) {
    foreach (i = 0 ... 64) out[i] = a[i];
}
