// In the mode fast a division by a varying value, of uniform ones, of integers, and what the library divides are as ever.
//~ fp: fast
//~ run: f(a=rand:25, b=rand:26, u=7.0, n=7) out[i] == f32(a[i] / b[i]); one[0] == f32(0.7); ints[i] == i / 7
export void f(uniform float a[], uniform float b[], uniform float u, uniform int n, uniform float out[], uniform float one[],
              uniform int ints[]) {
    one[0] = 4.9 / u;
    foreach (i = 0 ... 64) {
        out[i] = a[i] / b[i];
        ints[i] = i / n;
    }
}
