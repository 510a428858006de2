// A uniform condition is a real branch.
//~ run: f(n=5) out[i] == 1
//~ run: f(n=6) out[i] == 2
export void f(uniform int n, uniform int out[]) {
    foreach (i = 0 ... 64) {
        if (n == 5) out[i] = 1;
        else out[i] = 2;
    }
}
