// A condition that holds in no lane: the body does not run.
//~ run: f() out[i] == 0
export void f(uniform int out[]) {
    int x = programIndex;
    while (x < 0) {
        out[programIndex] = 9;
        x = -1;
    }
}
