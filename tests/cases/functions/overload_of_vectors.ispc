// Where functions fit equally well, numbers stay numbers rather than become short vectors, wherever the overload stands.
//~ run: f(out=zeros:16, x=fill(1.0 * i):16) out[3] == 8
typedef float<2> float2;
inline float2 powers(float2 v) {
    float2 r = { pow(2, v.x), pow(2, v.y) };
    return r;
}
inline float2 pow(float2 a, float b) {
    float2 r = { 0, 0 };
    return r;
}
export void f(uniform float out[], const uniform float x[]) {
    foreach (i = 0 ... 16) {
        float2 v = { x[i], 1 };
        out[i] = powers(v).x;
    }
}
