export void f() {
    uniform int x = 1;
    uniform float x = 2; //~ error: E0201
}
