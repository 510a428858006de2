struct S { int a; };
export void f() {
    uniform S s;
    s = ~s; //~ error: E0206
}
