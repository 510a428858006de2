// A load initialises a variable in all lanes: the inactive ones get 0.
//~ run: f(a=fill(i + 100)) out[i] == (i < W && i % 3 == 0 ? i + 100 : 0)
export void f(uniform int a[], uniform int out[]) {
    if (programIndex % 3 == 0) {
        int v = a[programIndex];
        unmasked { out[programIndex] = v; }
    }
}
