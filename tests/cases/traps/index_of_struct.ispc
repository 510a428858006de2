// The index of an array of structs counts structs, whatever member is read.
//~ run: f(k=7)
//~   trap: out_of_bounds message=read of index 7 of `s`, which has 4 elements
//~ run: g(p=zeros:2, k=2)
//~   trap: out_of_bounds message=write to index 2 of `p`, which has 2 elements
//~ run: v(k=5)
//~   trap: out_of_bounds message=read of index 5 of `w`, which has 3 elements
struct S { double x; int y; };
struct P { float x, y, z; };
export uniform int f(uniform int k) {
    uniform S s[4];
    s[k & 3].x = 1;
    return s[k].y;
}
export void g(uniform P p[], uniform int k) { p[k].z = 1; }
export uniform float v(uniform int k) {
    uniform float<3> w = { 1, 2, 3 };
    w[k & 1] = 4;
    return w[k];
}
