export void f() {
    uniform int t[2] = { 1, 2, 3 }; //~ error: E0213
}
