export void f() { //~ error: E0109
    uniform int x = 1;
