struct S { int a, b; };
export void f() {
    uniform S s = { .a = 1 }; //~ error: E0110
}
