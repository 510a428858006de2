// A reference to an array element.
//~ run: f(a=iota:8) a[i] == (i == 3 ? 103 : i)
static void add_hundred(uniform int &x) { x += 100; }
export void f(uniform int a[]) { add_hundred(a[3]); }
