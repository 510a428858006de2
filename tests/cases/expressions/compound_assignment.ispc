// Every compound assignment on a varying variable.
//~ run: f(a=iota) out[i] == ((((((((i + 5 - 2) * 3) / 2) % 17) << 3) >> 1) & 0x3e | 1) ^ 8)
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        int x = a[i];
        x += 5; x -= 2; x *= 3; x /= 2; x %= 17;
        x <<= 3; x >>= 1; x &= 0x3e; x |= 1; x ^= 8;
        out[i] = x;
    }
}
