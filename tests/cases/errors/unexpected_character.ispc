export void f() {
    uniform int x = 1 $ 2; //~ error: E0001
}
