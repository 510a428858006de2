struct S { int a; };
export uniform int f() {
    uniform S s;
    return (uniform int)s; //~ error: E0228
}
