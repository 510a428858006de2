// A break deep inside ifs leaves the loop, not the ifs only.
//~ run: f() out[i] == (i % 2 == 0 ? (i % 4 == 0 ? 3 : 5) : 10)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int k = 0;
        for (; k < 10; ++k) {
            if (i % 2 == 0) {
                if (k == 3) {
                    if (i % 4 == 0) break;
                } else if (k == 5) {
                    break;
                }
            }
        }
        out[i] = k;
    }
}
