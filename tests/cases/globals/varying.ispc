// A varying global: one value per lane.
//~ run: f() out[i] == (i < W ? i : 0)
//~ run: f() out[i] == (i < W ? 2 * i : 0)
int sum;
export void f(uniform int out[]) {
    sum += programIndex;
    out[programIndex] = sum;
}
