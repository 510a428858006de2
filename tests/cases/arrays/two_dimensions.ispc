// Rows of a two-dimensional array follow one another.
//~ run: f() out[i] == (i < 12 ? i / 4 * 10 + i % 4 : 0)
export void f(uniform int out[]) {
    uniform int t[3][4];
    for (uniform int y = 0; y < 3; ++y)
        for (uniform int x = 0; x < 4; ++x) t[y][x] = y * 10 + x;
    uniform int * uniform flat = &t[0][0];
    foreach (i = 0 ... 12) out[i] = flat[i];
}
