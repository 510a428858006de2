// One run reports every independent mistake.
export uniform int f() {
    uniform int a = missing; //~ error: E0200
    uniform int b = programIndex; //~ error: E0203
    b.x = 1; //~ error: E0210
    return a + b;
}
