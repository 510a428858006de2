// `cfor` means what `for` means, break and continue included.
//~ run: f() out[i] == min(i, 9) - (min(i, 9) > 2)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        cfor (int k = 0; k < 9; ++k) {
            if (k == i) break;
            if (k == 2) continue;
            ++n;
        }
        out[i] = n;
    }
}
