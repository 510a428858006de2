// Widening a float is exact.
//~ run: f(a=rand:5) out[i] == a[i]
export void f(uniform float a[], uniform double out[]) {
    foreach (i = 0 ... 64) out[i] = a[i];
}
