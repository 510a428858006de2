// `a < b < c` compares the truth value of `a < b` with `c`, as in C.
//~ run: f() result == 1
export uniform int f() {
    uniform int a = 5, b = 3, c = 1;
    return a < b < c ? 1 : 0;
}
