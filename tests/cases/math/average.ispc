// Averages of bytes do not overflow; one rounds up, one down.
//~ run: f(a=fill(i * 4)) up[i] == (i * 4 + 255 + 1) / 2; down[i] == (i * 4 + 255) / 2
export void f(uniform uint8 a[], uniform uint8 up[], uniform uint8 down[]) {
    foreach (i = 0 ... 64) {
        uint8 most = 255;
        up[i] = avg_up(a[i], most);
        down[i] = avg_down(a[i], most);
    }
}
