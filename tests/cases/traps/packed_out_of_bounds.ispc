// A packed store that goes too far traps for the first lane that does, before any lane has stored.
//~ run: stores(a=iota:640, out=zeros:100) out[i] == (i < W * (150 / W) - (W * (150 / W) + 1) / 3 ? i + (i + 1) / 2 : 0)
//~   trap: out_of_bounds lane=150%W
export void stores(uniform int a[], uniform int out[]) {
    uniform int n = 0;
    foreach (i = 0 ... 640)
        if (i % 3 != 1) n += packed_store_active(&out[n], a[i]);
}

// Likewise a packed load.
//~ run: loads(a=iota:100, out=zeros:640) out[i] == (i < W * (150 / W) && i % 3 != 1 ? i - (i + 1) / 3 : 0)
//~   trap: out_of_bounds lane=150%W
export void loads(uniform int a[], uniform int out[]) {
    uniform int n = 0;
    foreach (i = 0 ... 640) {
        if (i % 3 != 1) {
            int x;
            n += packed_load_active(&a[n], &x);
            out[i] = x;
        }
    }
}

// By a pointer that begins before the array: the first lane is at fault, though the others are not.
//~ run: before(a=iota:640, out=zeros:640, rounds=10, by=0) out[i] == (i % W < (W + 1) / 2 && i < 10 * W ? i - i % W + 2 * (i % W) : 0)
//~ run: before(a=iota:640, out=zeros:640, rounds=0, by=1) out[i] == 0
//~   trap: out_of_bounds lane=0
export void before(uniform int a[], uniform int out[], uniform int rounds, uniform int by) {
    for (uniform int r = rounds - 1; r >= -by; --r) {
        int x = r < 0 ? 0 : a[r * programCount + programIndex];
        if (programIndex % 2 == 0) packed_store_active(&out[r < 0 ? -1 : r * programCount], x);
    }
}
