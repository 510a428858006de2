// Any pointer becomes a void pointer.
//~ run: f(a=iota) result == 7
static uniform int read(void * uniform p) { return *((uniform int * uniform)p); }
export uniform int f(uniform int a[]) { return read(&a[7]); }
