// Members of all sizes, bools among them, uniform and varying, changed under masks in nested calls.
//~ run: f(n=40) out[i] == (i < W ? 40 * (i % 2 + 2) + 39 + 40 + (i % 3 == 0 ? 40 : 0) : 0)
struct Mixed { int8 a; double b; bool c; uniform int u; float v; };
static void inner(Mixed &m, uniform int i) {
    m.c = programIndex % 3 == 0;
    m.u = i;
    if (programIndex % 2 == 1) m.b = m.a + 1;
}
static void outer(Mixed &m, uniform int i) {
    m.a = 2;
    m.b = 2;
    m.v = m.v + 1;
    inner(m, i);
}
export void f(uniform int n, uniform int out[]) {
    int sum = 0;
    Mixed m;
    m.v = 0;
    for (uniform int i = 0; i < n; ++i) {
        outer(m, i);
        sum += (int)m.b;
        if (m.c) sum += 1;
    }
    out[programIndex] = sum + m.u + (int)m.v;
}
