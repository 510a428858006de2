// Results of any type: each lane takes its own.
struct Pair { int a; float b; };
static uniform float half(uniform int x) { return x * 0.5f; }
static uniform bool is_odd(uniform int x) { return x % 2 == 1; }
static uniform int64 big(uniform int x) { return (int64)x << 33; }
static uniform Pair pair(uniform int x) {
    uniform Pair p;
    p.a = x;
    p.b = x * 0.25f;
    return p;
}
static varying int own(uniform int x) { return x * 1000 + programIndex; }
//~ run: f() halves[i] == (i < W ? i * 0.5 : 0); odds[i] == (i < W ? i % 2 : 0); bigs[i] == (i < W ? i * 8589934592 : 0); pairs[i] == (i < W ? i * 1.25 : 0); owns[i] == (i < W ? i * 1001 : 0)
export void f(uniform float halves[], uniform int odds[], uniform int64 bigs[], uniform float pairs[], uniform int owns[]) {
    int x = programIndex;
    halves[programIndex] = crev half(x);
    odds[programIndex] = crev is_odd(x) ? 1 : 0;
    bigs[programIndex] = crev big(x);
    Pair p = crev pair(x);
    pairs[programIndex] = p.a + p.b;
    owns[programIndex] = crev own(x);
}
