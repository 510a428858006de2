// Braces within braces for several dimensions.
//~ run: f() out[i] == (i < 6 ? i + 1 : 0)
export void f(uniform int out[]) {
    uniform int t[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    for (uniform int y = 0; y < 2; ++y)
        for (uniform int x = 0; x < 3; ++x) out[y * 3 + x] = t[y][x];
}
