struct S { int a; };
export uniform int f() {
    uniform S s;
    return s.b; //~ error: E0210
}
