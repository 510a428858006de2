// A struct that lives outside of the loop keeps what each turn leaves in it, lane by lane, and after the loop.
//~ run: f(n=50) out[i] == (i < W ? (i % 2 == 0 ? 50 * 2 : 50 * 3 + 1) * 1000 + (i % 2 == 0 ? 50 : 0) : 0)
struct Sum { int value; int turns; };
static void add(Sum &s, int x) {
    s.value += x;
    if (programIndex % 2 == 0)
        s.turns++;
}
export void f(uniform int n, uniform int out[]) {
    Sum s;
    s.value = programIndex % 2;
    s.turns = 0;
    for (uniform int i = 0; i < n; ++i) {
        if (programIndex % 2 == 0)
            add(s, 2);
        else
            add(s, 3);
    }
    out[programIndex] = s.value * 1000 + s.turns;
}
