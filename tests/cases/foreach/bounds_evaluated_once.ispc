// The bounds are evaluated before the loop.
//~ run: f() out[i] == (i < 10)
export void f(uniform int out[]) {
    uniform int n = 10;
    foreach (i = 0 ... n) {
        n = 1000;
        out[i] += 1;
    }
}
