// Varying indices in both dimensions.
//~ run: f() out[i] == i % 3 * 10 + i % 4
export void f(uniform int out[]) {
    uniform int t[3][4];
    for (uniform int y = 0; y < 3; ++y)
        for (uniform int x = 0; x < 4; ++x) t[y][x] = y * 10 + x;
    foreach (i = 0 ... 64) out[i] = t[i % 3][i % 4];
}
