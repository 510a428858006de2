// default may stand anywhere and may fall through.
//~ run: f() out[i] == (i % 5 == 0 ? 1 : i % 5 == 1 ? 4 : 2 + 4)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        switch (i % 5) {
        case 0: n += 1; break;
        default: n += 2;
        case 1: n += 4; break;
        }
        out[i] = n;
    }
}
