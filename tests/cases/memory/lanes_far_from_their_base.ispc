// The address of an element is exact however far its pointer lies outside of the array: nothing is counted in 32 bits.
//~ run: f(a=iota:64) out[i] == (i < W ? 2 * i : 0)
export void f(uniform int a[], uniform int out[]) {
    varying int *uniform p = (varying int *uniform)a;
    p -= 134217728;
    int far = 134217728;
    if (programIndex < 0) far = 0;      // not known to be the same in all lanes
    int sum = 0;
    for (uniform int r = 0; r < 2; ++r) {
        sum += p[far];
        p[far] = programIndex;
    }
    out[programIndex] = sum;
}
