// The condition of an inner if divides; lanes outside the outer one do not take part.
//~ run: f() out[i] == (i < W && i % 2 == 1 && 100 / i > 20)
export void f(uniform int out[]) {
    int d = programIndex;
    if (programIndex % 2 == 1) {
        if (100 / d > 20) out[programIndex] = 1;
    }
}
