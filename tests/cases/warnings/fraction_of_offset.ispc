// A float that is added to a pointer becomes an integer first.
//~ run: f(a=iota:64) out[i] == (i < W ? int(i / 2) + 3 : 0)
export void f(uniform int a[], uniform int out[]) {
    float half = programIndex * 0.5f;
    out[programIndex] = *(a + half + 3);            //~ warning: W0219
}
