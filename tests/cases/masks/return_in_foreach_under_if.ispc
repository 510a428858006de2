// Lanes that were active outside leave the function; the ones that wait for the else part do not, although they too
// took part in the loop.
//~ run: f() a[i] == 0; b[i] == (i < W && i % 2 == 1); c[i] == (i < W && i % 2 == 1); seen[i] == (i < W)
export void f(uniform int a[], uniform int b[], uniform int c[], uniform int seen[]) {
    if (programIndex % 2 == 0) {
        foreach (i = 0 ... programCount) {
            seen[i] = 1;
            if (i >= 0) return;
        }
        a[programIndex] = 1;
    } else {
        b[programIndex] = 1;
    }
    c[programIndex] = 1;
}
