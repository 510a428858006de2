// Calls in a loop that lanes leave one by one.
//~ run: f() out[i] == i
static int step(int x) { return x + 1; }
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        while (n < i) n = step(n);
        out[i] = n;
    }
}
