// One lane's value for all.
//~ run: f() out[i] == (i < W ? (W - 1) * 5 : 0)
export void f(uniform int out[]) {
    int v = programIndex * 5;
    out[programIndex] = broadcast(v, programCount - 1);
}
