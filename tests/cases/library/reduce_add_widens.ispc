// Sums of small integers have twice the size, so that nothing wraps; 64 bits do. Assigned to the small type they wrap.
//~ run: f() s[0] == 100 * W; s[1] == 250 * W; s[2] == -30000 * W; s[3] == 60000 * W; s[4] == 2000000000 * W
//~   also: s[5] == 4000000000 * W; s[6] == i8(100 * W); s[7] == 2 + 4 + 8 + 8; s[8] == 4611686018427387904 * W
export void f(uniform int64 s[]) {
    int8 a = 100;
    uint8 b = 250;
    int16 c = -30000;
    uint16 d = 60000;
    int32 e = 2000000000;
    uint32 g = 4000000000;
    int64 h = (int64)1 << 62;
    s[0] = reduce_add(a);
    s[1] = reduce_add(b);
    s[2] = reduce_add(c);
    s[3] = reduce_add(d);
    s[4] = reduce_add(e);
    s[5] = reduce_add(g);
    uniform int8 small = reduce_add(a);
    s[6] = small;
    s[7] = sizeof(reduce_add(a)) + sizeof(reduce_add(d)) + sizeof(reduce_add(e)) + sizeof(reduce_add(h));
    s[8] = reduce_add(h);
}
