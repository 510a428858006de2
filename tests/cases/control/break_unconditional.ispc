// A break that every lane executes.
//~ run: f() out[i] == (i < W)
export void f(uniform int out[]) {
    int n = 0;
    while (programIndex >= 0) {
        ++n;
        break;
    }
    out[programIndex] = n;
}
