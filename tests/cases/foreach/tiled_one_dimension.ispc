// With one dimension foreach_tiled is foreach.
//~ run: f(n=45) out[i] == (i < 45)
export void f(uniform int n, uniform int out[]) {
    foreach_tiled (i = 0 ... n) out[i] += 1;
}
