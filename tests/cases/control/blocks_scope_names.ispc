// A name declared in an inner block hides the outer one until the block ends.
//~ run: f() result == 1
export uniform int f() {
    uniform int x = 1;
    {
        uniform int x = 2;
        x = 3;
    }
    return x;
}
