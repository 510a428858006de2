// Operators bind as in C.
//~ run: f() out[i] == i < W ? (1 + i * 3 - (i << 2) % 7 ^ (i & 5)) : 0
export void f(uniform int out[]) {
    int x = programIndex;
    out[programIndex] = 1 + x * 3 - (x << 2) % 7 ^ x & 5;
}
