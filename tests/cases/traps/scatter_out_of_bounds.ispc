// The same for a scatter.
//~ run: f(out=zeros:8) out[i] == (W <= 2 && i < W ? 1 : 0)
//~   trap[W>2]: out_of_bounds lane=2 line=here
export void f(uniform int out[]) {
    int at = programIndex >= 2 ? 100 - programIndex : programIndex;
    out[at] = 1; //~ line: here
}
