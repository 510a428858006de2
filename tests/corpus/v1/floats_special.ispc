// Infinities, NaN and the sign of zero.
export void f(uniform float out[], uniform int tests[], const uniform float in[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = in[i];
        out[i] = x + x;
        tests[i] = (isnan(x) ? 1 : 0) + (x < 0 ? 2 : 0) + (x == x ? 4 : 0) + (intbits(x) >> 31 != 0 ? 8 : 0);
    }
}
// call: f(out=zeros:f32:8, tests=zeros:i32:8, in=[0, -0.0, inf, -inf, nan, 3e38, 1e-45, -1], n=8)
