struct S { int a; };
export void f() {
    uniform S s;
    uniform int x = s; //~ error: E0202
}
