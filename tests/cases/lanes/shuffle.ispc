// Each lane names the lane it reads.
//~ run: f() out[i] == (i < W ? (W - 1 - i) * 3 : 0)
export void f(uniform int out[]) {
    int v = programIndex * 3;
    out[programIndex] = shuffle(v, programCount - 1 - programIndex);
}
