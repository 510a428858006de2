// Widening that loses nothing is preferred to any other conversion.
//~ run: f() result == 1
static uniform int kind(uniform int x) { return 1; }
static uniform int kind(uniform int8 x) { return 2; }
export uniform int f() {
    uniform int16 small = 3;
    return kind(small);
}
