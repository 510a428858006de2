// Leading and trailing zeros of 64-bit integers.
//~ run: f() lead[i] == 63 - i; trail[i] == i
export void f(uniform int lead[], uniform int trail[]) {
    foreach (i = 0 ... 64) {
        uint64 x = 1ull << i;
        lead[i] = (int)count_leading_zeros(x);
        trail[i] = (int)count_trailing_zeros(x);
    }
}
