// What `crev` can call, and with what.
static uniform int two(uniform int a, uniform float b) { return a; }
static void three(uniform int a[], uniform int n) { a[n] = 1; }
task void job(uniform int x) { }
struct Point { int x; };
static uniform int of_point(uniform Point p) { return p.x; }
export void f(uniform int out[]) {
    int x = programIndex;
    crev two(x); //~ error: E0207
    crev two(x, 1.5f, 3); //~ error: E0207
    crev job(x); //~ error: E0223
    crev nobody(x); //~ error: E0200
    crev of_point(x); //~ error: E0207
    x = crev three(out, x); //~ error: E0202
    uniform int u = crev two(x, 2.0f); //~ error: E0203
    crev x(1); //~ error: E0223
}
