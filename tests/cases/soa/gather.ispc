// A varying index that jumps about.
//~ run: f() out[i] == (i < 32 ? (i * 7) % 32 : 0)
struct P { int x; };
export void f(uniform int out[]) {
    soa<16> P p[2];
    foreach (i = 0 ... 32) p[i].x = i;
    foreach (i = 0 ... 32) out[i] = p[(i * 7) % 32].x;
}
