// A float selector is converted to an integer.
//~ run: f() out[i] == (i / 2 % 2 == 1 ? 1 : 0)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        switch ((i % 4) * 0.5) {
        case 1: out[i] = 1;
        }
    }
}
