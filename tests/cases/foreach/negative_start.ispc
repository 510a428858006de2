// A range that begins below zero.
//~ run: f() out[i] == (i < 40 ? i - 20 : 0)
export void f(uniform int out[]) {
    foreach (i = -20 ... 20) out[i + 20] = i;
}
