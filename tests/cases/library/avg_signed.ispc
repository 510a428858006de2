// Averages of signed numbers.
//~ run: f(a=fill(i * 2 - 128)) up[i] == (i * 2 - 128 + 101 + 256 + 1) / 2 - 128; down[i] == (i * 2 - 128 + 101 + 256) / 2 - 128
export void f(uniform int8 a[], uniform int8 up[], uniform int8 down[]) {
    foreach (i = 0 ... 64) {
        int8 b = 101;
        up[i] = avg_up(a[i], b);
        down[i] = avg_down(a[i], b);
    }
}
