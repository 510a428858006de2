// A static local variable keeps its value between calls, and between calls from outside.
//~ run: f() result == 3
//~ run: f() result == 6
static uniform int next() {
    static uniform int n = 0;
    n += 1;
    return n;
}
export uniform int f() {
    next();
    next();
    return next();
}
