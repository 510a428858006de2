// A trap in a callee after members were set: what was stored to arrays before is there.
//~ run: f(n=60, a=iota:50) out[i] == (i < 50 ? 2 * i : 0)
//~ trap: out_of_bounds line=reads
struct Pair { uniform int x; uniform int y; };
static void load(uniform Pair &p, uniform int a[], uniform int i) {
    p.x = i;
    p.y = a[i];     //~ line: reads
}
export void f(uniform int n, uniform int a[], uniform int out[]) {
    for (uniform int i = 0; i < n; ++i) {
        uniform Pair p;
        load(p, a, i);
        out[i] = p.x + p.y;
    }
}
