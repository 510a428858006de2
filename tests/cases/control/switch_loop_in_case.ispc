// A loop inside a case; its break does not leave the switch.
//~ run: f() out[i] == (i % 2 == 1 ? min(i, 7) + 100 : 100)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        switch (i % 2) {
        case 1:
            for (int k = 0; k < 7; ++k) {
                if (k == i) break;
                ++n;
            }
            n += 100;
            break;
        default:
            n = 100;
        }
        out[i] = n;
    }
}
