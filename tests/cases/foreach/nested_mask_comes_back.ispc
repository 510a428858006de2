// After the inner loop the outer lanes go on as before.
//~ same-bits-at-every-width
//~ run: f() out[i] == (i < 30 ? (i % 2 == 0 ? 7 : 1) : 0)
export void f(uniform int out[]) {
    uniform int sink[16];
    foreach (i = 0 ... 30) {
        out[i] = 1;
        if (i % 2 == 0) {
            foreach (j = 0 ... 16) sink[j] = j;
            out[i] += 6;
        }
    }
}
