// The rest of the function runs for the lanes that have not returned.
//~ run: f() out[i] == (i < 10 ? 1 : i < 20 ? 2 : 3)
static int classify(int i) {
    if (i < 10) return 1;
    int r = 3;
    if (i < 20) {
        r = 2;
        return r;
    }
    return r;
}
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = classify(i);
}
