// `and` and `or` evaluate both sides.
//~ run: f() result == 2; out[i] == ((i % 2 == 0 && i % 3 == 0) + 2 * (i % 2 == 0 || i % 3 == 0))
uniform int calls = 0;
static uniform bool called(uniform bool b) {
    calls++;
    return b;
}
export uniform int f(uniform int out[]) {
    calls = 0;
    uniform bool x = and(called(false), called(true));
    foreach (i = 0 ... 64) {
        int bits = 0;
        if (and(i % 2 == 0, i % 3 == 0)) bits += 1;
        if (or(i % 2 == 0, i % 3 == 0)) bits += 2;
        out[i] = bits;
    }
    return calls;
}
