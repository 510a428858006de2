// Reading from two vectors, one behind the other.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? i / 2 : 1000 + i / 2) : 0)
export void f(uniform int out[]) {
    int a = programIndex, b = programIndex + 1000;
    int at = programIndex / 2 + (programIndex % 2 == 0 ? 0 : programCount);
    out[programIndex] = shuffle(a, b, at);
}
