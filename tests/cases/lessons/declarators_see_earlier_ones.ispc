// A declarator may use those before it in the same declaration.
//~ run: f(x=3.0) result == 3.0 + 6.0 + 9.0 + 4
export uniform float f(uniform float x) {
    uniform float a = x, b = a * 2, *uniform p = &b, c = *p + a;
    const uniform int n = 2, list[n + 2 == 4 ? 4 : 1], last = sizeof(list) / sizeof(n);
    for (uniform int i = 0, m = i + 1; i < m; ++i) a += 0;
    return a + b + c + last;
}
