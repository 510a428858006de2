// The value of an assignment has the type of its left side.
//~ run: f() result == 3.0
export uniform float f() {
    uniform int n;
    uniform float x = n = 3.75;
    return x;
}
