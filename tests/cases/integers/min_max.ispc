// `min` and `max` of signed and unsigned integers.
//~ run: f(a=fill(i - 32)) lo[i] == min(i - 32, 3); hi[i] == max(u32(i - 32), 100)
export void f(uniform int a[], uniform int lo[], uniform uint32 hi[]) {
    foreach (i = 0 ... 64) {
        lo[i] = min(a[i], 3);
        hi[i] = max((uint32)a[i], (uint32)100);
    }
}
