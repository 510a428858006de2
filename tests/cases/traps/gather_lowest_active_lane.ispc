// Lanes that are off do not fail; the lowest active one that does is named.
//~ run: f(a=iota:8)
//~   trap[W==1]: out_of_bounds lane=0
//~   trap[W==2]: out_of_bounds lane=0
//~   trap[W==4]: out_of_bounds lane=2
//~   trap[W==8]: out_of_bounds lane=6
//~   trap[W>=16]: out_of_bounds lane=W-2
export uniform int f(uniform int a[]) {
    int v = 0;
    if (programIndex >= programCount - 2 && programIndex % 2 == 0) v = a[programIndex + 1000];
    return reduce_add(v);
}
