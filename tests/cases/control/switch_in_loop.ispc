// break belongs to the switch, continue to the loop around it.
//~ run: f() out[i] == (i % 2 == 0 ? 2 * 6 : 1 * 4 + 2 * 2)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        for (int k = 0; k < 6; ++k) {
            switch ((i % 2) * (k % 3 + 1)) {
            case 0: break;
            case 1: n += 2; continue;
            default: n += 1; continue;
            }
            n += 2;
        }
        out[i] = n;
    }
}
