// Several labels on one statement.
//~ run: f() out[i] == (i % 10 < 3 ? 1 : i % 10 == 9 ? 2 : 3)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        switch (i % 10) {
        case 0: case 1: case 2: out[i] = 1; break;
        case 9: out[i] = 2; break;
        default: out[i] = 3;
        }
    }
}
