// continue in an inner loop belongs to that loop.
//~ run: f() out[i] == (i % 5 + 1) / 2
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        for (int k = 0; k < i % 5; ++k) {
            if (k % 2 == 1) continue;
            out[i] += 1;
        }
    }
}
