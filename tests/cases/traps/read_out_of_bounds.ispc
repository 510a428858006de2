// The lowest failing lane is named.
//~ run: f(a=iota:5) out[i] == (W <= 5 && i < W ? i : 0)
//~   trap[W>5]: out_of_bounds lane=5 line=here
export void f(uniform int a[], uniform int out[]) {
    out[programIndex] = a[programIndex]; //~ line: here
}
