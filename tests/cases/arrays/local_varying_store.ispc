// Stores with a varying index change each lane's own element.
//~ run: f() out[i] == (i < W ? 7 * (i % 3 == 0) + 5 : 0)
export void f(uniform int out[]) {
    int t[3] = { 5, 5, 5 };
    t[programIndex % 3] += 7;
    out[programIndex] = t[0];
}
