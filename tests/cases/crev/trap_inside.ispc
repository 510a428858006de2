// A trap inside names the lanes of all the calls that led there.
//~ widths: 4,8,16,32,64
static void bar(uniform int out[], uniform int x, uniform int y) {
    out[x * 1000 + y * 100] = 1; //~ line: here
}
static void foo(uniform int out[], uniform int x) {
    if (programIndex == 3) crev bar(out, x, programIndex);
}
export void f(uniform int out[]) {
    if (programIndex % 2 == 0) crev foo(out, programIndex);
}
//~ run: f() out[i] == 0
//~ trap: out_of_bounds line=here message=lane 3 of crev bar ← lane 0 of crev foo
