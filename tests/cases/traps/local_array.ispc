// Local arrays are checked too.
//~ run: f(k=4)
//~   trap: out_of_bounds line=here
export uniform int f(uniform int k) {
    uniform int t[4] = { 1, 2, 3, 4 };
    return t[k]; //~ line: here
}
