// An index below zero.
//~ run: f(a=iota, k=-1)
//~   trap: out_of_bounds line=here message=-1
export uniform int f(uniform int a[], uniform int k) {
    return a[k]; //~ line: here
}
