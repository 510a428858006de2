// Initial values for the members.
//~ run: f() result == 123
struct P { int x, y, z; };
export uniform int f() {
    uniform P * uniform p = uniform new uniform P(1, 2, 3);
    uniform int r = p->x * 100 + p->y * 10 + p->z;
    delete p;
    return r;
}
