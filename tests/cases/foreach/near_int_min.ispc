// A range that begins at the least one.
//~ run: f() out[i] == (i < 20)
export void f(uniform int out[]) {
    uniform int first = -2147483648;
    foreach (i = first ... first + 20) out[i - first] += 1;
}
