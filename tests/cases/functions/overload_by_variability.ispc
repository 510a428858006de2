// uniform and varying parameters make different overloads.
//~ run: f() a[0] == 1; a[1] == 2
static uniform int kind(uniform int x) { return 1; }
static uniform int kind(varying int x) { return 2; }
export void f(uniform int a[]) {
    uniform int u = 1;
    varying int v = programIndex;
    a[0] = kind(u);
    a[1] = kind(v);
}
