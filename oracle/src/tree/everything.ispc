#define CLAMPED(x) ((x) < 0 ? 0 : (x))
typedef unsigned int8 byte;
enum Color { RED, GREEN = 4, BLUE };
struct Point { float x, y; int<3> cells; };
struct Cell { Point at[2]; Cell * uniform next; };
uniform int total = 3, counts[4] = { 1, 2, 3, 4 };
static const uniform float half_of = 0.5f;
int declared(int a, float b = 2.5);
int declared(int a, float b) { return a + (int)b; }
template <typename T, int N> T scaled(T x) { return x * (T)N; }
template <> float scaled<float, 2>(float x) { return x + x; }
Point operator+(Point a, Point b) { a.x += b.x; a.y += b.y; return a; }
task void work(uniform int out[], uniform int n) { out[taskIndex] = n; }
static inline unmasked uniform int plain(uniform int n) { return n > 0 ? n : -n; }
export void f(uniform int out[], uniform int n, uniform float scale) {
    Point p = { 1, 2, 3 }, q = p;
    int (*pointer)(int, float) = declared;
    soa<4> Point packed[2];
    foreach (i = 0 ... n, j = 0 ... 2) {
        int v = out[i] * (j + 1), w;
        w = CLAMPED(v);
        if (v > 3 && w != 2) { v -= 1; } else if (!v) v = ~w; else { continue; }
        cif (v & 1) w <<= 2;
        switch (v % 3) {
        case 0:
        case 1: w++; break;
        case GREEN: { --w; }
        default: w = BLUE;
        }
        out[i] = v + w + scaled<int, 3>(v) + declared(w);
    }
    foreach_tiled (i = 0 ... n) { out[i] += (int)(scale * half_of); }
    foreach_active (lane) { total += (int)lane; }
    foreach_unique (u in programIndex) { counts[u & 3] |= u; }
    #pragma unroll 2
    for (uniform int k = 0; k < 3; ++k) { q = p + q; if (k == 1) break; }
    while (total > 100) { total /= 2; }
    do { total--; } while (total > 50);
    cfor (int m = 0; m < 2; m++) p.cells[m] = m ^ (m >> 1);
    unmasked { uniform int inner = plain(n); counts[0] += inner; }
    uniform int * uniform made = uniform new uniform int[4];
    made[0] = sizeof(Point) + sizeof(float);
    delete made;
    byte b = 'a';
    assert(b == 97);
    print("% %\n", b, q.x);
    launch[2] work(out, n);
    sync;
    varying Point * uniform there = &p;
    there->y = reduce_add(p.x), there = NULL;
    goto end;
end:
    out[0] += reduce_add(pointer(1, 2.0f) + (true ? 1 : 0) + (int)packed[0].x);
    return;
}
