// Blocks of a stream cipher of additions, rotations and exclusive ors (RFC 8439): sixteen words of state per lane.
static inline void quarter(uint32 &a, uint32 &b, uint32 &c, uint32 &d) {
    a += b; d ^= a; d = (d << 16) | (d >> 16);
    c += d; b ^= c; b = (b << 12) | (b >> 20);
    a += b; d ^= a; d = (d << 8) | (d >> 24);
    c += d; b ^= c; b = (b << 7) | (b >> 25);
}

export void chacha(uniform int blocks, const uniform uint32 start[], uniform uint32 stream[]) {
    foreach (block = 0 ... blocks) {
        uint32 x[16];
        for (uniform int k = 0; k < 16; ++k)
            x[k] = start[k];
        x[12] = x[12] + (uint32)block;
        for (uniform int round = 0; round < 10; ++round) {
            quarter(x[0], x[4], x[8], x[12]);
            quarter(x[1], x[5], x[9], x[13]);
            quarter(x[2], x[6], x[10], x[14]);
            quarter(x[3], x[7], x[11], x[15]);
            quarter(x[0], x[5], x[10], x[15]);
            quarter(x[1], x[6], x[11], x[12]);
            quarter(x[2], x[7], x[8], x[13]);
            quarter(x[3], x[4], x[9], x[14]);
        }
        for (uniform int k = 0; k < 16; ++k)
            stream[k * blocks + block] = x[k] + start[k] + (k == 12 ? (uint32)block : 0);
    }
}
