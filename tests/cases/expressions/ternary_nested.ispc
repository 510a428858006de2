// `?:` groups to the right.
//~ run: f() out[i] == (i < 10 ? 1 : i < 20 ? 2 : i < 30 ? 3 : 4)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64)
        out[i] = i < 10 ? 1 : i < 20 ? 2 : i < 30 ? 3 : 4;
}
