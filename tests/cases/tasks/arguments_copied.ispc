// Arguments are copied at the launch, uniform and varying ones, structs too.
//~ run: f() out[i] == (i < 10 ? 100 * (i + 1) + 7 : 0); lanes[i] == (i < W ? 10 * i * 10 : 0)
struct Pair { uniform int a; uniform int b; };
task void one(uniform int out[], uniform int lanes[], uniform int k, uniform Pair p, varying int v) {
    out[k] = p.a * 100 + p.b;
    atomic_add_global(&lanes[programIndex], v);
}
export void f(uniform int out[], uniform int lanes[]) {
    uniform Pair p = {0, 7};
    varying int v = programIndex * 10;
    for (uniform int k = 0; k < 10; ++k) {
        p.a = k + 1;
        launch one(out, lanes, k, p, v);
        p.a = -1;
    }
    v = 0;
}
