// The two sides are converted to their common type.
//~ run: f() out[i] == (i % 2 == 0 ? i : i + 0.5)
export void f(uniform float out[]) {
    foreach (i = 0 ... 64) {
        int whole = i;
        float half = i + 0.5;
        out[i] = i % 2 == 0 ? whole : half;
    }
}
