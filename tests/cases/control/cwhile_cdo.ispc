// `cwhile` and `cdo` mean what `while` and `do` mean.
//~ run: f() out[i] == i % 5 + max(i % 7, 1)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int a = 0, b = 0;
        cwhile (a < i % 5) ++a;
        cdo {
            ++b;
        } while (b < i % 7);
        out[i] = a + b;
    }
}
