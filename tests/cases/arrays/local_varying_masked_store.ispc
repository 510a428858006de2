// A store to a local array is masked.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? 9 : 1) : 0)
export void f(uniform int out[]) {
    int t[2] = { 1, 1 };
    if (programIndex % 2 == 0) t[1] = 9;
    out[programIndex] = t[1];
}
