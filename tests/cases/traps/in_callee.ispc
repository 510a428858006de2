// A trap in a called function.
//~ run: f(a=zeros:4)
//~   trap: out_of_bounds line=here
static void poke(uniform int a[], uniform int k) {
    a[k] = 1; //~ line: here
}
export void f(uniform int a[]) {
    poke(a, 3);
    poke(a, 4);
}
