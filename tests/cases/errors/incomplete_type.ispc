struct S;
export void f() {
    uniform S s; //~ error: E0216
}
