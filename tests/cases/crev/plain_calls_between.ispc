// A trap names r-functions only: plain calls and loops over lanes between them have no lane of their own.
//~ widths: 4,8,16,32,64
static void inner(uniform int out[], uniform int x) { out[64 + x] = 1; }
static void middle(uniform int out[], uniform int x) {
    foreach_active (i) inner(out, x);
}
static void outer(uniform int out[], uniform int x) { middle(out, x); }
export void f(uniform int out[]) {
    if (programIndex == 2) crev outer(out, programIndex);
}
//~ run: f() out[i] == 0
//~ trap: out_of_bounds message=in `inner`; lane 2 of crev outer
