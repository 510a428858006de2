// The overload whose parameter type fits best is called.
//~ run: f() a[0] == 1; a[1] == 2; a[2] == 3; a[3] == 4; a[4] == 5
static uniform int kind(uniform int8 x) { return 1; }
static uniform int kind(uniform int x) { return 2; }
static uniform int kind(uniform int64 x) { return 3; }
static uniform int kind(uniform float x) { return 4; }
static uniform int kind(uniform double x) { return 5; }
export void f(uniform int a[]) {
    uniform int8 tiny = 1;
    uniform int64 big = 1;
    a[0] = kind(tiny);
    a[1] = kind(7);
    a[2] = kind(big);
    a[3] = kind(1.5);
    a[4] = kind(1.5d);
}
