// The called function has variables of its own: the caller's lanes, active or not, keep what they held.
//~ run: f() out[i] == (i < W ? i * 7 + (i % 2 == 0 ? W : 0) : 0)
static uniform int busy(uniform int x) {
    int a = x + programIndex, b = a * a, c = b - a;
    int table[4] = { a, b, c, 1 };
    a = table[3];
    return reduce_add(a);
}
export void f(uniform int out[]) {
    int keep = programIndex * 7, more = 0;
    if (programIndex % 2 == 0) more = crev busy(keep);
    out[programIndex] = keep + more;
}
