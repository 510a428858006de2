// `rotate` reads the value its neighbour holds, active or not.
//~ run: f() out[i] == (i < W && i % 2 == 0 ? (i + 1) % W : 0)
export void f(uniform int out[]) {
    int x = programIndex;
    if (programIndex % 2 == 0) out[programIndex] = rotate(x, 1);
}
