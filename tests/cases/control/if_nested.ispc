// Masks of nested ifs intersect and come back.
//~ run: f() out[i] == (i % 2 == 0 ? (i % 3 == 0 ? 11 : 21) : (i % 5 == 0 ? 12 : 22)) + 100
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int r;
        if (i % 2 == 0) {
            if (i % 3 == 0) r = 11;
            else r = 21;
        } else {
            if (i % 5 == 0) r = 12;
            else r = 22;
        }
        r += 100;
        out[i] = r;
    }
}
