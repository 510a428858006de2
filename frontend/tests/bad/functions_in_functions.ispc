void f() {
    int g(int x) { return x; }
    export void h() { }
    int y = g(2);
}
