// The value a lane returns is that lane's.
//~ run: f() out[i] == (i < W ? i * 3 : 0)
static int g() {
    foreach (i = 0 ... programCount) {
        return i * 3;
    }
    return -1;
}
export void f(uniform int out[]) {
    int r = g();
    out[programIndex] = r;
}
