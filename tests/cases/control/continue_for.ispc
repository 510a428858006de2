// Lanes that continue still execute the loop's step.
//~ run: f() out[i] == (i % 3 == 0 ? 6 : 7)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        for (int k = 0; k < 10; ++k) {
            if ((k + i) % 3 == 0) continue;
            ++n;
        }
        out[i] = n;
    }
}
