// The lowest active lane for which the condition is false.
//~ run: f() out[i] == (i < W)
//~   trap[W>3]: assertion lane=3 line=here
export void f(uniform int out[]) {
    out[programIndex] = 1;
    assert(programIndex < 3); //~ line: here
}
