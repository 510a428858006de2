// An argument with a side effect is evaluated once.
//~ run: f() result == 6
static inline uniform int twice(uniform int v) { return v + v; }
export uniform int f() {
    uniform int n = 2;
    uniform int r = twice(++n);
    return n == 3 ? r : -1;
}
