// A break leaves the innermost loop only.
//~ run: f() out[i] == 4 * min(i, 6)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        for (int a = 0; a < 4; ++a) {
            for (int b = 0; b < 6; ++b) {
                if (b == i) break;
                ++n;
            }
        }
        out[i] = n;
    }
}
