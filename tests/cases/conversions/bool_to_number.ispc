// `true` is 1 in every type.
//~ run: f() a[i] == (i > 10); b[i] == (i > 10 ? 1.0 : 0.0); c[i] == (i > 10)
export void f(uniform int a[], uniform float b[], uniform int8 c[]) {
    foreach (i = 0 ... 64) {
        bool big = i > 10;
        a[i] = big;
        b[i] = big;
        c[i] = big;
    }
}
