// Three interleaved components become three vectors.
//~ run: f(a=iota:192) out[i] == (i < W ? 3 * i * 10000 + (3 * i + 1) * 100 + (3 * i + 2) : 0)
export void f(uniform float a[], uniform float out[]) {
    float x, y, z;
    aos_to_soa3(a, &x, &y, &z);
    out[programIndex] = x * 10000 + y * 100 + z;
}
