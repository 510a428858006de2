// An active lane divides by zero.
//~ run: f(d=fill(3 - i)) out[i] == (W <= 3 && i < W ? 100 / (3 - i) : 0)
//~   trap[W>3]: division_by_zero lane=3 line=here
export void f(uniform int d[], uniform int out[]) {
    int v = d[programIndex];
    out[programIndex] = 100 / v; //~ line: here
}
