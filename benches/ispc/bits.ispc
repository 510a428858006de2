// Bits counted, found and turned round, for each word.
static inline uint32 turned(uint32 x) {
    x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
    x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
    x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
    x = ((x >> 8) & 0x00ff00ffu) | ((x & 0x00ff00ffu) << 8);
    return (x >> 16) | (x << 16);
}

export void bits(uniform int n, const uniform uint32 word[], uniform uint32 mirrored[], uniform int summary[]) {
    foreach (i = 0 ... n) {
        uint32 x = word[i] | 1;
        mirrored[i] = turned(x);
        summary[i] = popcnt((int)x) * 1024 + count_leading_zeros((int)x) * 32 + count_trailing_zeros((int)(x & ~1u) | 0x10000);
    }
}
