// The comma operator evaluates both sides and gives the right one.
//~ run: f() result == 12
export uniform int f() {
    uniform int a = 1, b;
    b = (a = 5, a + 7);
    return b;
}
