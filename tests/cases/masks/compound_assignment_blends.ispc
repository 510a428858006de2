// So do compound assignments and increments.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? i * 3 + 1 : i) : 0)
export void f(uniform int out[]) {
    int x = programIndex;
    if (programIndex % 2 == 0) {
        x *= 3;
        x++;
    }
    out[programIndex] = x;
}
