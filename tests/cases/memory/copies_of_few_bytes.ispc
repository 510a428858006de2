// Copies of a constant number of bytes are loads and stores where they are compiled: ranges may overlap, lie in arrays of the function
// or of the host, and end anywhere.
#define SIZES(F) F(1) F(2) F(3) F(7) F(8) F(12) F(16) F(20) F(31) F(32) F(48) F(64) F(100) F(128) F(255) F(256)
#define AT(N) memcpy(&out[256 * k], &a[3 * k], N); ++k;
//~ run: f(a=fill(i * 7 + i / 256):2048, rounds=3, out=fill(200):4096) result == 0
export uniform int f(uniform unsigned int8 a[], uniform int rounds, uniform unsigned int8 out[]) {
    uniform int wrong = 0;
    static const uniform int sizes[16] = { 1, 2, 3, 7, 8, 12, 16, 20, 31, 32, 48, 64, 100, 128, 255, 256 };
    for (uniform int round = 0; round < rounds; ++round) {
        uniform int k = 0;
        SIZES(AT)
        for (k = 0; k < 16; ++k)
            for (uniform int i = 0; i < 256; ++i) {
                const uniform int expected = i < sizes[k] ? a[3 * k + i] : 200;
                if (out[256 * k + i] != (uniform unsigned int8)expected) ++wrong;
            }
    }
    return wrong;
}
// Both ways, nearer than a copy is long.
//~ run: moved(a=iota:200, n=50) a[i] == (i < 50 ? 50 : i8(i))
//~ also: result == 0
export uniform int moved(uniform int8 a[], uniform int n) {
    uniform int wrong = 0;
    for (uniform int i = 0; i < n; ++i) {
        uniform int8 before[40];
        for (uniform int k = 0; k < 40; ++k) before[k] = a[i + k];
        memmove(&a[i + 5], &a[i], 35);
        for (uniform int k = 5; k < 40; ++k) if (a[i + k] != before[k - 5]) ++wrong;
        memmove(&a[i], &a[i + 5], 35);
        for (uniform int k = 0; k < 35; ++k) if (a[i + k] != before[k]) ++wrong;
        for (uniform int k = 0; k < 40; ++k) a[i + k] = before[k];
    }
    for (uniform int i = 0; i < 50; ++i) a[i] = 50;
    return wrong;
}
