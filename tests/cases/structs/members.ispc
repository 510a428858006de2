// Members of a uniform struct.
//~ run: f() result == 1 + 20 + 300
struct S { int a; int64 b; float c; };
export uniform int f() {
    uniform S s;
    s.a = 1;
    s.b = 20;
    s.c = 300;
    return s.a + (uniform int)s.b + (uniform int)s.c;
}
