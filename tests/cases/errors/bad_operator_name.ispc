struct S { int a; };
static S operator?(S x) { return x; } //~ error: E0115
export void f() { }
