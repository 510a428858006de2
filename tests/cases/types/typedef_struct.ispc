// A typedef of a struct and of a pointer.
//~ run: f() result == 9
struct S { int a; };
typedef uniform S * uniform Ref;
export uniform int f() {
    uniform S s;
    Ref r = &s;
    r->a = 9;
    return s.a;
}
