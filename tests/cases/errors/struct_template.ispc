template <typename T> struct S { T a; }; //~ error: E0114
export void f() { }
