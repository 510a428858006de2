// Missing arguments at the end take their defaults.
//~ run: f() a[0] == 111; a[1] == 115; a[2] == 75
static uniform int sum(uniform int x, uniform int y = 10, uniform int z = 100) { return x + y + z; }
export void f(uniform int a[]) {
    a[0] = sum(1);
    a[1] = sum(1, 14);
    a[2] = sum(1, 14, 60);
}
