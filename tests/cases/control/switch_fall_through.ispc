// Lanes that fall through join those of the next case.
//~ run: f() out[i] == (i % 5 == 0 ? 7 : i % 5 == 1 ? 6 : i % 5 == 2 ? 4 : 0)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        switch (i % 5) {
        case 0: n += 1;
        case 1: n += 2;
        case 2: n += 4;
        }
        out[i] = n;
    }
}
