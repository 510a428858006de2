// Two columns of 64-bit digests merged into one: multiplications, rotations and shifts of 64 bits.
static inline uint64 rotate(uint64 x, uniform int by) {
    return (x << by) | (x >> (64 - by));
}

export void digests(uniform int n, const uniform int64 a[], const uniform int64 b[], uniform int64 merged[]) {
    foreach (i = 0 ... n) {
        uint64 x = (uint64)a[i] * 0x9E3779B97F4A7C15ull;
        uint64 y = rotate((uint64)b[i] ^ x, 29);
        x = (x ^ (x >> 31)) + y;
        x *= 0xD6E8FEB86659FD93ull;
        merged[i] = (int64)(x ^ (x >> 32));
    }
}
