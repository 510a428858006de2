// The other lanes execute the else part.
//~ run: f() out[i] == (i < 20 ? i : -i)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int r;
        if (i < 20) r = i;
        else r = -i;
        out[i] = r;
    }
}
