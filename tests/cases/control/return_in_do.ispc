// A return inside a do loop inside an if.
//~ run: f() out[i] == (i % 2 == 0 ? i % 6 : 100)
static int g(int i) {
    if (i % 2 == 0) {
        int k = 0;
        do {
            if (k == i % 6) return k;
            ++k;
        } while (k < 50);
    }
    return 100;
}
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = g(i);
}
