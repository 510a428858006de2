// An else belongs to the nearest if.
//~ run: f() out[i] == (i < 40 ? (i < 20 ? 1 : 2) : 0)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        if (i < 40)
            if (i < 20) out[i] = 1;
            else out[i] = 2;
    }
}
