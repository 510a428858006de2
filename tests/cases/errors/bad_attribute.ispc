__attribute__((aligned(x + 1))) struct S { int a; }; //~ error: E0116
export void f() { }
