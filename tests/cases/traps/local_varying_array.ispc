// Each lane's index into an array of varying values.
//~ run: f(k=2)
//~   trap: out_of_bounds lane=0
export uniform int f(uniform int k) {
    int t[2];
    int at = programIndex * 0 + k;
    return reduce_add(t[at]);
}
