// Atomic operations of uniform values in a loop are instructions of the machine in compiled code: each gives what was there.
//~ run: f(n=40) x[0] == 780; x[1] == -780; x[2] == 39; x[3] == 20; x[4] == 0; result == 19760
//~ also: wide[0] == 780 * 5000000000; wide[1] == -780; wide[2] == 39; wide[3] == 20; wide[4] == 0
//~ run: unaligned(n=40) result == 780; bytes[i] == (i == 1 ? 12 : i == 2 ? 3 : 0)
//~ run: beyond(x=zeros:8, n=12) x[i] == (i < 8 ? 1 : 0)
//~ trap: out_of_bounds
export uniform int64 f(uniform int x[], uniform int64 wide[], uniform int n) {
    uniform int64 seen = 0;
    for (uniform int i = 0; i < n; ++i) {
        seen += atomic_add_global(&x[0], i);
        seen -= atomic_subtract_global(&x[1], i);
        atomic_swap_local(&x[2], i);
        uniform int at = x[3];
        if (atomic_compare_exchange_global(&x[3], i / 2 + (i & 1), i / 2 + 1) != at)
            x[4] = 1;
        atomic_add_local(&wide[0], 5000000000 * i);
        atomic_subtract_local(&wide[1], (uniform int64)i);
        atomic_swap_global(&wide[2], (uniform int64)i);
        uniform int64 before = wide[3];
        if (atomic_compare_exchange_local(&wide[3], (uniform int64)(i / 2 + (i & 1)), (uniform int64)(i / 2 + 1)) != before)
            wide[4] = 1;
    }
    return seen;
}

export uniform int unaligned(uniform int8 bytes[], uniform int n) {
    uniform int *uniform at = (uniform int *uniform)(&bytes[1]);
    for (uniform int i = 0; i < n; ++i)
        atomic_add_global(at, i);
    return *at;
}

export void beyond(uniform int x[], uniform int n) {
    for (uniform int i = 0; i < n; ++i)
        atomic_add_local(&x[i], 1);
}
