// Lanes that return are out of every loop and of what follows.
//~ run: f() out[i] == (i < 5 ? i : 99)
static int first(int i) {
    for (int a = 0; a < 100; ++a) {
        for (int b = 0; b < 5; ++b) {
            if (b == i) return b;
        }
        if (a == 3) return 99;
    }
    return -1;
}
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = first(i);
}
