// Unsigned differences stop at zero, sums at the top.
//~ run: f(a=fill(i * 4)) sum[i] == min(i * 4 + 100, 255); diff[i] == max(i * 4 - 100, 0)
export void f(uniform uint8 a[], uniform uint8 sum[], uniform uint8 diff[]) {
    foreach (i = 0 ... 64) {
        uint8 b = 100;
        sum[i] = saturating_add(a[i], b);
        diff[i] = saturating_sub(a[i], b);
    }
}
