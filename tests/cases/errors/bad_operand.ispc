struct S { int a; };
export void f() {
    uniform S s;
    uniform int x = -s.a + !s.a;
    s = ~s; //~ error: E0206
}
