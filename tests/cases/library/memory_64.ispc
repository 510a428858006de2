// Blocks of memory with counts of 64 bits: overlapping copies, fills, nothing beyond.
//~ run: f(a=iota:16) a[i] == (i >= 4 && i < 12 ? i - 4 : i); b[i] == (i < 8 ? i : 0); c[i] == (i < 4 ? 0x01010101 : 0)
export void f(uniform int a[], uniform int b[], uniform int c[]) {
    uniform int64 bytes = 32;
    memcpy64(b, a, bytes);
    memmove64(&a[4], a, bytes);
    memset64(c, 1, bytes / 2);
}
