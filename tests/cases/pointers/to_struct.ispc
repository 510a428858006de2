// Member access through a pointer.
//~ run: f() result == 3 * 10 + 4
struct Point { int x, y; };
static void set(uniform Point * uniform p) {
    p->x = 3;
    (*p).y = 4;
}
export uniform int f() {
    uniform Point q;
    set(&q);
    return q.x * 10 + q.y;
}
