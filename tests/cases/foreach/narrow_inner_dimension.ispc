// An inner dimension narrower than the gang.
//~ run: f() out[i] == (i < 63)
export void f(uniform int out[]) {
    foreach (y = 0 ... 21, x = 0 ... 3) out[y * 3 + x] += 1;
}
