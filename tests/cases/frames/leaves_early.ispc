// Lanes that return, break and continue at different times leave different things in a struct.
//~ run: f(n=48) out[i] == (i < W ? (i % 4 == 0 ? 7 : i % 4 == 1 ? 1000 + 48 : i % 4 == 2 ? 20 : 30 + 48) : 0)
struct State { int steps; int mark; };
static void step(State &s, uniform int i) {
    if (programIndex % 4 == 0 && i == 7) {
        s.steps = 7;
        return;
    }
    if (programIndex % 4 == 0 && i > 7)
        return;
    s.steps = i + 1;
    if (programIndex % 4 == 1)
        s.mark = 1000;
}
export void f(uniform int n, uniform int out[]) {
    State s;
    s.steps = 0;
    s.mark = 0;
    for (uniform int i = 0; i < n; ++i) {
        if (programIndex % 4 == 2 && i == 20)
            break;
        if (programIndex % 4 == 3 && i % 2 == 0) {
            s.mark = 30;
            continue;
        }
        step(s, i);
    }
    out[programIndex] = s.steps + s.mark;
}
