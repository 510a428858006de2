// What follows from a mistake is not reported again.
export uniform int f() {
    uniform int a = missing; //~ error: E0200
    uniform int b = a + 1;
    return b * a;
}
