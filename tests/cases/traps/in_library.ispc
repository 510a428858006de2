// A trap in a function of the library is shown where it was called.
//~ run: f(a=zeros:4)
//~   trap: out_of_bounds line=here
export void f(uniform int a[]) {
    uniform int k = 9;
    atomic_add_global(&a[k], 1); //~ line: here
}
