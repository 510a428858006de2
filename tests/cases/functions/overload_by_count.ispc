// So do different numbers of parameters.
//~ run: f() a[0] == 0; a[1] == 5; a[2] == 12
static uniform int total() { return 0; }
static uniform int total(uniform int x) { return x; }
static uniform int total(uniform int x, uniform int y) { return x + y; }
export void f(uniform int a[]) {
    a[0] = total();
    a[1] = total(5);
    a[2] = total(5, 7);
}
