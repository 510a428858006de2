// Both in one loop, in different lanes.
//~ run: f() out[i] == (i % 3 == 0 ? 0 : i % 3 == 1 ? 4 : 8)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        for (int k = 0; k < 8; ++k) {
            if (i % 3 == 0) continue;
            if (i % 3 == 1 && k == 4) break;
            ++n;
        }
        out[i] = n;
    }
}
