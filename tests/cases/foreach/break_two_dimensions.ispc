// break leaves all dimensions.
//~ same-bits-at-every-width
//~ run: f() out[i] == 0
export void f(uniform int out[]) {
    foreach (y = 0 ... 8, x = 0 ... 8) {
        if (y >= 0) break;
        out[y * 8 + x] = 1;
    }
}
