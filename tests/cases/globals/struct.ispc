// A global struct.
//~ run: f() result == 12
struct P { int x, y; };
uniform P p = { 5, 7 };
export uniform int f() { return p.x + p.y; }
