// The first element that is not there.
//~ run: f(a=iota:10, n=11) a[i] == i + 1
//~   trap: out_of_bounds line=here
export void f(uniform int a[], uniform int n) {
    for (uniform int k = 0; k < n; ++k)
        a[k] += 1; //~ line: here
}
