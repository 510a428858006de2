// A number as a condition: true if not zero.
//~ run: f(a=fill(i % 4)) out[i] == (i % 4 != 0)
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        if (a[i]) out[i] = 1;
    }
}
