// Leading and trailing zeros; 32 for zero.
//~ run: f(a=fill(i == 0 ? 0 : i32(1 << i % 32))) lead[i] == (i == 0 ? 32 : 31 - i % 32); trail[i] == (i == 0 ? 32 : i % 32)
export void f(uniform int a[], uniform int lead[], uniform int trail[]) {
    foreach (i = 0 ... 64) {
        lead[i] = count_leading_zeros(a[i]);
        trail[i] = count_trailing_zeros(a[i]);
    }
}
