// Reductions of small, large and unsigned types.
//~ run: f() a[0] == sum(k, 0, W, k); a[1] == sum(k, 0, W, k * 1000000000000); a[2] == 0xfffffff0 + min(W, 16) - 1; a[3] == 100 * W
export void f(uniform int64 a[]) {
    int16 s = programIndex;
    a[0] = reduce_add(s);
    int64 l = programIndex * 1000000000000ll;
    a[1] = reduce_add(l);
    uint32 u = 0xfffffff0u + (uint32)min(programIndex, 15);
    a[2] = reduce_max(u);
    int8 t = 100;
    a[3] = reduce_add(t);
}
