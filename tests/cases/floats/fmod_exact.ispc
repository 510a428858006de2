// The remainder is exact for every quotient, as by long division in integers.
//~ run: f(n=64) out[i] == (i < 64 ? 8 : 0)
//~ run: g(n=64) out[i] == (i < 64 ? 8 : 0)
static inline uint32 random(uint32 &state) {
    state = state * 1664525 + 1013904223;
    return state ^ (state >> 15);
}
// Of finite x and y: `mantissa * 2 ** exponent` of what is left of x, bit by bit.
static inline uint64 long_division(uint64 x, int ex, uint64 y, int ey) {
    uint64 left = x % y;
    for (int k = ex - ey; k > 0; --k)
        left = (left << 1) % y;
    return left;
}
static inline int mantissa(float x) { return (intbits(x) & 0x7fffff) + ((intbits(x) & 0x7f800000) != 0 ? 0x800000 : 0); }
static inline int exponent(float x) { return max(1, (int)((intbits(x) >> 23) & 255)); }
static inline float expected(float x, float y) {
    if (abs(x) < abs(y))
        return x;
    uint64 left = long_division(mantissa(x), exponent(x), mantissa(y), exponent(y));
    float r = (float)ldexp((double)left, exponent(y) - 150);
    return floatbits(intbits(r) | (intbits(x) & 0x80000000));
}
export void f(uniform int n, uniform int out[]) {
    foreach (i = 0 ... n) {
        uint32 state = i * 40503 + 7;
        int right = 0;
        for (uniform int k = 0; k < 8; ++k) {
            // Some that are near one another, of which one is nearly a multiple of the other, denormal ones, and quotients of all sizes.
            float y = floatbits((random(state) & 0x83ffffff) + 0x38000000 + 1);
            float x = y * (float)(int)(random(state) >> 12);
            if (k % 4 == 1) x = floatbits(intbits(y * (float)(int)(random(state) >> 14)) - 1);
            if (k % 4 == 2) { x = floatbits(random(state) >> 8); y = floatbits((random(state) >> (9 + k)) + 1); }
            if (k % 4 == 3) x = floatbits(intbits(y) + ((random(state) & 63) << 22));
            right += intbits(fmod(x, y)) == intbits(expected(x, y));
        }
        out[i] = right;
    }
}
static inline uint64 mantissa(double x) {
    return (intbits(x) & 0xfffffffffffffull) + ((intbits(x) & 0x7ff0000000000000ull) != 0 ? 0x10000000000000ull : 0);
}
static inline int exponent(double x) { return max(1, (int)((intbits(x) >> 52) & 2047)); }
static inline double expected(double x, double y) {
    if (abs(x) < abs(y))
        return x;
    double r = ldexp((double)long_division(mantissa(x), exponent(x), mantissa(y), exponent(y)), exponent(y) - 1075);
    return doublebits(intbits(r) | (intbits(x) & 0x8000000000000000ull));
}
export void g(uniform int n, uniform int out[]) {
    foreach (i = 0 ... n) {
        uint32 state = i * 40503 + 7;
        int right = 0;
        for (uniform int k = 0; k < 8; ++k) {
            double y = doublebits(((uint64)(random(state) & 0x800fffff) << 32) + ((uint64)random(state)) + 0x3ff0000000000000ull);
            double x = y * (random(state) >> (k & 7));
            if (k % 4 == 1) x = doublebits(intbits(y * (double)(random(state) >> 4) * 37) - 1);
            if (k % 4 == 2) { x = doublebits((uint64)random(state) << (k & 15)); y = doublebits((random(state) >> k) + 1); }
            if (k % 4 == 3) x = doublebits(intbits(y) + ((uint64)(random(state) & 127) << 51));
            right += intbits(fmod(x, y)) == intbits(expected(x, y));
        }
        out[i] = right;
    }
}
// Zeros, infinities and what is not a number.
//~ run: special(x=[5, -5, 0, -0, inf, -inf, nan, 3, -3, 6], y=[inf, -inf, 3, 3, 3, 3, 3, 0, nan, -3], out=zeros:10) out[i] == (i < 4 ? x[i] : i < 9 ? nan : 0); x[3] == 0
export void special(uniform float x[], uniform float y[], uniform float out[]) {
    foreach (i = 0 ... 10) out[i] = fmod(x[i], y[i]);
}
