// Assignment copies: the original stays.
//~ run: f() result == 1
struct S { int t[3]; };
export uniform int f() {
    uniform S a = { { 1, 2, 3 } }, b;
    b = a;
    b.t[0] = 9;
    return a.t[0];
}
