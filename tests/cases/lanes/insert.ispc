// A copy with one lane replaced.
//~ run: f() out[i] == (i < W ? (i == W - 1 ? 77 : i) : 0)
export void f(uniform int out[]) { out[programIndex] = insert(programIndex, programCount - 1, 77); }
