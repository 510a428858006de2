// Inactive lanes with special values do not disturb the others.
//~ run: f() out[i] == (i < W && i % 2 == 0 ? 1.0 : 0.0)
export void f(uniform float out[]) {
    float x = programIndex % 2 == 0 ? 0.0 : -1.0;
    if (x == 0.0) out[programIndex] = exp(x) + sqrt(x);
}
