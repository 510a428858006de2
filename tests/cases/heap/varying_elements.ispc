// A single allocation of varying values.
//~ run: f() out[i] == (i < W ? i + 30 : 0)
export void f(uniform int out[]) {
    varying int * uniform p = uniform new varying int[4];
    p[3] = programIndex + 30;
    out[programIndex] = p[3];
    delete[] p;
}
