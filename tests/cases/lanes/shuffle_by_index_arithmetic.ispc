// Elements by lane numbers that are computed from constants, and selected by comparisons of such, in a loop that goes round often.
//~ run: floats(n=40) out[i] == (i < W ? 40 * (((W - 1 - i) % W + 1) + 3 * ((i ^ 1) % W + 1) + 5 * ((i ^ 2) % W + 1) + 7 * ((i ^ 4) % W + 1) + 11 * ((i + 3) % W + 1) + 13 * ((i >> 1) % W + 1) + 17 * ((5 * i + 3) % W + 1) + (i >= 3 ? 19 * (i + 1) : 23)) : 0)
//~ run: doubles(n=40) out[i] == (i < W ? 40 * (((W - 1 - i) % W + 1) + 3 * ((i ^ 1) % W + 1) + 5 * ((i ^ 2) % W + 1) + 7 * ((i ^ 4) % W + 1) + 11 * ((i + 3) % W + 1) + 13 * ((i >> 1) % W + 1) + 17 * ((5 * i + 3) % W + 1) + (i >= 3 ? 19 * (i + 1) : 23)) : 0)
//~ run: ints(n=40) out[i] == (i < W ? 40 * (((W - 1 - i) % W + 1) + 3 * ((i ^ 1) % W + 1) + 5 * ((i ^ 2) % W + 1) + 7 * ((i ^ 4) % W + 1) + 11 * ((i + 3) % W + 1) + 13 * ((i >> 1) % W + 1) + 17 * ((5 * i + 3) % W + 1) + (i >= 3 ? 19 * (i + 1) : 23)) : 0)
//~ run: longs(n=40) out[i] == (i < W ? 40 * (((W - 1 - i) % W + 1) + 3 * ((i ^ 1) % W + 1) + 5 * ((i ^ 2) % W + 1) + 7 * ((i ^ 4) % W + 1) + 11 * ((i + 3) % W + 1) + 13 * ((i >> 1) % W + 1) + 17 * ((5 * i + 3) % W + 1) + (i >= 3 ? 19 * (i + 1) : 23)) : 0)

#define PERMUTED(T, NAME) \
    export void NAME(uniform int n, uniform T out[]) { \
        T x = programIndex + 1, sum = 0; \
        for (uniform int k = 0; k < n; ++k) { \
            T now = x + (T)(k & 0); \
            sum += shuffle(now, programCount - 1 - programIndex) + 3 * shuffle(now, programIndex ^ 1); \
            sum += 5 * shuffle(now, programIndex ^ 2) + 7 * shuffle(now, programIndex ^ 4); \
            sum += 11 * shuffle(now, programIndex + 3) + 13 * shuffle(now, programIndex >> 1); \
            sum += 17 * shuffle(now, 5 * programIndex + 3); \
            sum += programIndex >= 3 ? 19 * now : 23; \
        } \
        out[programIndex] = sum; \
    }
PERMUTED(float, floats)
PERMUTED(double, doubles)
PERMUTED(int, ints)
PERMUTED(int64, longs)
