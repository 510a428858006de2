// Lane numbers out of range wrap.
//~ run: f() out[i] == (i < W ? (W - 1) * 1000 + 2 % W * 10 : 0)
export void f(uniform int out[]) {
    int v = programIndex;
    out[programIndex] = extract(v, -1) * 1000 + broadcast(v, programCount + 2) * 10;
}
