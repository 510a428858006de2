// Every compound assignment on a uniform variable.
//~ run: f(x=40) result == ((((((((40 + 5 - 2) * 3) / 2) % 17) << 3) >> 1) & 0x3e | 1) ^ 8)
export uniform int f(uniform int x) {
    x += 5; x -= 2; x *= 3; x /= 2; x %= 17;
    x <<= 3; x >>= 1; x &= 0x3e; x |= 1; x ^= 8;
    return x;
}
