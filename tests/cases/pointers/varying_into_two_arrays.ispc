// Lanes may point into different arrays.
//~ run: f(a=fill(i + 100), b=fill(i + 200)) out[i] == (i % 2 == 0 ? i + 100 : i + 200)
export void f(uniform int a[], uniform int b[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        uniform int * varying p;
        if (i % 2 == 0) p = a;
        else p = b;
        out[i] = p[i];
    }
}
