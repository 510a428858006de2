// One definition for every floating-point type.
//~ run: f() a[0] == 5.0; a[1] == 2.5
static uniform floating doubled(uniform floating x) { return x * 2; }
export void f(uniform double a[]) {
    uniform float x = 2.5;
    uniform double y = 1.25d;
    a[0] = doubled(x);
    a[1] = doubled(y);
}
