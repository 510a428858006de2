// The uniform and the varying form of a function give the same bits.
//~ run: f(a=rand:52) out[i] == 0
export void f(uniform float a[], uniform int out[]) {
    for (uniform int k = 0; k < 64; ++k) {
        uniform float x = a[k];
        varying float v = x;
        uniform float s = sin(x);
        uniform float e = exp(x * 0.05);
        if (extract(sin(v), 0) != s || extract(exp(v * 0.05), 0) != e) out[k] = 1;
    }
}
