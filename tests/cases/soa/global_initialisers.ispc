// The same for globals, constant ones too.
//~ run: f() out[i] == (i < 8 ? i + 1 : i < 16 ? 3 * (i - 8) : 0)
struct P { int x, y; };
soa<8> P p = { { 1, 2, 3, 4, 5, 6, 7, 8 }, 4 };
const soa<8> P q = { 5, { 0, 3, 6, 9, 12, 15, 18, 21 } };
export void f(uniform int out[]) {
    soa<8> P * uniform from = &p;
    const soa<8> P * uniform to = &q;
    foreach (i = 0 ... 8) {
        out[i] = from[i].x + from[i].y - 4;
        out[8 + i] = to[i].y + to[i].x - 5;
    }
}
