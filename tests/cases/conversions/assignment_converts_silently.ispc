// Assignments and initialisers convert without a cast.
//~ run: f(a=fill(i * 1.5)) out[i] == int(i * 1.5) % 256
export void f(uniform float a[], uniform uint8 out[]) {
    foreach (i = 0 ... 64) {
        int n = a[i];
        out[i] = n;
    }
}
