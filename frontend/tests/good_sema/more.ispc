// References to values, overloaded operators and templates in unusual places.
struct S { float a; };
S operator*(S & x, S y) { S c = { x.a * y.a }; return c; }
S operator-(S & x, S & y) { S c = { x.a - y.a }; return c; }
S & operator+=(S & x, const S & y) { x.a += y.a; return x; }
S operator++(S & x) { x.a++; return x; }
S operator++(S & x, int) { S old = x; x.a++; return old; }
bool operator!(S x) { return x.a == 0; }
static float use(const float & x) { return x; }
template <typename T> T same(T x) { return x; }
template <typename T, int x, int y> T sum() { return x + y; }
template <int x, int y> int sum() { return x + y + 1; }
template <> int same<int>(int x) { return x + 1; }
template float same<float>(float x);
typedef float (*Fn)(float);
export float f(float x) {
    S a = { x }, b = a;
    S c = (a - b) * (a * b) - a;
    c += a;
    ++c;
    S d = c++;
    uniform Fn p = same;
    uniform int i = 3;
    uniform int & r = (uniform int &)i;
    r = 4;
    for (uniform bool once = 0; once < 1; once += 1) { i++; }
    return !d ? use(x * 2) : p(x) + sum<int, 2, 4>() + sum<3, 5>() + same<int>(3);
}
enum Flags { None, First, Second = 1 << 3, Both = First | Second };
static const uniform int sizes[] = { 1, 2, 3 };
static uniform float grid[][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
const varying int lane = programIndex * 2;
struct Node { uniform int value; Node * uniform next; };
struct Outer { struct { int inner; } part; float v[2][2]; };
export uniform int g(uniform Node list[], uniform int n) {
    uniform Node * uniform at = &list[0];
    uniform int total = sizes[1] + (int)grid[1][2] + extract(lane, 0) < 3 ? 1 : 0;
    while (at != NULL && total < n) { total += at->value; at = at->next; }
    do { total--; if (total == 4) continue; } while (total > 10);
    Outer o;
    o.part.inner = 3;
    o.v[1][0] = 2;
    uniform Flags flags = Both;
    if (flags & First) total++;
    switch (flags) { case First: total = 1; case Both: { total = 2; break; } default: return 5; }
    unmasked { float all = programIndex; total += (int)reduce_add(all); }
    foreach_active (lane_index) { total += (int)lane_index; }
    foreach_unique (value in programIndex & 3) { total += value; }
    cif (programIndex < 3) { total++; } else { total--; }
    goto end;
end:
    return total > 3 ? total : (uniform int)flags == 0 ? 1 : 2;
}
static float defaulted(float a, float b = 2, uniform int c = sizeof(uniform double)) { return a + b + c; }
export float h(float x, uniform float scale = 3) {
    float y = defaulted(x) + defaulted(x, 3) + defaulted(x, 3, 4);
    uniform float<4> v = { 1, 2, 3, 4 };
    v.xy = v.zw;
    float<4> w = v * 2 + x;
    bool<4> less = w < v;
    w = less ? w : v;
    float16 small = 1.5f16;
    double big = 1.5d + small;
    int8 tiny = 'a';
    varying float * uniform py = &y;
    *py += 1;
    void * uniform any = py;
    varying float * uniform back = (varying float * uniform)any;
    int64 difference = &w - &w;
    back[0] = crev_target(x);
    float z = crev lane_only(x, 2);
    return w.x + big + tiny + *back + z + difference + scale;
}
static uniform float lane_only(uniform float x, uniform int n) { return x * n; }
static float crev_target(float x) { return x; }
