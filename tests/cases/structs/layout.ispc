// Members are aligned as in C.
//~ run: f() result == 24
struct S { int8 a; int64 b; int8 c; int16 d; };
export uniform int f() { return sizeof(uniform S); }
