// A pointer as an integer and back.
//~ run: f(a=iota) result == 9
export uniform int f(uniform int a[]) {
    uniform intptr_t n = (uniform intptr_t)&a[5];
    uniform int * uniform p = (uniform int * uniform)(n + 16);
    return *p;
}
