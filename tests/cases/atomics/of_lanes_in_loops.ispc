// Lanes take turns in compiled code, too: of those that share an element, each gets what the one before has left.
//~ run: f(n=203) counts[i] == (i < 3 ? 26 : i < 8 ? 25 : 0); sums[i] == (i == 0 ? 3 * 68 * 67 / 2 : i == 1 ? 203 * 202 / 2 : 0)
//~ also: wide[0] == 200; wide[1] == 201; wide[2] == 202; wide[3] == 199; wide[4] == 200; wide[7] == 199
//~ also: floats[i] == (i < 3 ? 13 : i < 8 ? 12.5 : i == 8 ? 202 : 0); result == 0
//~ run: in_two(n=96) a[i] == (i < 4 ? 12 : 0); b[i] == (i < 4 ? 12 : 0); result == 0
//~ run: unaligned(n=120) result == 40; bytes[i] == (i == 1 ? 40 : i == 5 ? 80 : i == 9 ? 120 : 0)
//~ run: beyond(x=zeros:8, n=12) x[i] == (i < 8 / W * W ? 1 : 0)
//~   trap: out_of_bounds
export uniform int f(uniform int counts[], uniform int sums[], uniform int64 wide[], uniform float floats[], uniform int n) {
    uniform int wrong = 0;
    foreach (i = 0 ... n) {
        bool right = atomic_add_global(&counts[i % 8], 1) == i / 8;
        if (i % 3 == 0)
            right &= atomic_add_local(&sums[0], i) == i * (i / 3 - 1) / 2;
        right &= atomic_subtract_global(&sums[1], -i) == i * (i - 1) / 2;
        int64 before = i < 4 ? 0 : i - 4;
        right &= atomic_swap_global(&wide[i % 4], (int64)i) == before;
        right &= atomic_compare_exchange_local(&wide[4 + i % 4], before, (int64)i) == before;
        right &= atomic_compare_exchange_local(&wide[4 + i % 4], before - 1, (int64)0) >= i;
        right &= atomic_add_local(&floats[i % 8], 0.5f) == (i / 8) * 0.5f;
        right &= atomic_swap_global(&floats[8], (float)i) == (i == 0 ? 0 : i - 1);
        wrong += reduce_add(right ? 0 : 1);
    }
    return wrong;
}

export uniform int in_two(uniform int a[], uniform int b[], uniform int n) {
    uniform int wrong = 0;
    foreach (i = 0 ... n) {
        uniform int *at = (i & 4) == 0 ? &a[i % 4] : &b[i % 4];
        wrong += reduce_add(atomic_add_global(at, 1) == i / 8 ? 0 : 1);
    }
    return wrong;
}

export uniform int unaligned(uniform int8 bytes[], uniform int n) {
    foreach (i = 0 ... n)
        atomic_add_global((uniform int *)(&bytes[1 + 4 * (i % 3)]), 1 + i % 3);
    return *(uniform int *uniform)(&bytes[1]);
}

export void beyond(uniform int x[], uniform int n) {
    foreach (i = 0 ... n)
        atomic_add_local(&x[i], 1);
}
