// Nothing of the store happens: every lane is checked before the first one writes.
//~ run: f(out=zeros:5) out[i] == (W <= 5 && i < W ? 1 : 0)
//~   trap[W>5]: out_of_bounds lane=5 line=here
export void f(uniform int out[]) {
    out[programIndex] = 1; //~ line: here
}
