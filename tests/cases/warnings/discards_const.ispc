//~ run: f(a=iota) result == 3
static uniform int g(uniform int * uniform p) { return p[3]; }
export uniform int f(const uniform int a[]) {
    return g(a); //~ warning: W0203
}
