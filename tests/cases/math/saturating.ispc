// Saturating arithmetic stops at the limits.
//~ run: f(a=fill(i * 4 - 128)) sum[i] == max(min(i * 4 - 128 + 100, 127), -128); diff[i] == max(min(i * 4 - 128 - 100, 127), -128)
export void f(uniform int8 a[], uniform int8 sum[], uniform int8 diff[]) {
    foreach (i = 0 ... 64) {
        int8 hundred = 100;
        sum[i] = saturating_add(a[i], hundred);
        diff[i] = saturating_sub(a[i], hundred);
    }
}
