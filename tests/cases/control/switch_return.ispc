// A return inside a case.
//~ run: f() out[i] == (i % 3 == 0 ? 5 : i % 3 == 1 ? 11 : 10)
static int g(int k) {
    int r = 10;
    switch (k) {
    case 0: return 5;
    case 1: r = 11;
    }
    return r;
}
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = g(i % 3);
}
