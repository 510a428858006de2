// A pointer into it walks over instances.
//~ run: f() result == 13 * 2
struct P { int x, y; };
export uniform int f() {
    soa<4> P p[8];
    for (uniform int k = 0; k < 32; ++k) p[k].y = k * 2;
    soa<4> P * uniform q = &p[10];
    q += 3;
    return q->y;
}
