// A cast binds tighter than any binary operator.
//~ run: f() result == 4.5
export uniform float f() {
    uniform float x = 2.75;
    return (int)x + 2.5;
}
