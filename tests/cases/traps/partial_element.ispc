// An access that begins inside the array and ends outside it.
//~ run: f(a=zeros:3)
//~   trap: out_of_bounds
export uniform int f(uniform uint8 a[]) {
    uniform int * uniform p = (uniform int * uniform)a;
    return *p;
}
