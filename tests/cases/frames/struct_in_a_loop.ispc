// A local struct handed on by reference in a hot loop: set under masks, read later, zero again in each turn.
//~ run: f(n=60) out[i] == (i < W ? (i % 3 == 0 ? 60 * 7 : i % 3 == 1 ? 60 * 3 : 0) : 0)
struct Hit { int t; int where; };
static void touch(Hit &hit, int lane) {
    if (lane % 3 == 0) {
        hit.t = 5;
        hit.where = hit.t + 2;
    } else if (lane % 3 == 1) {
        hit.where = 3;
    }
}
export void f(uniform int n, uniform int out[]) {
    int sum = 0;
    for (uniform int i = 0; i < n; ++i) {
        Hit hit;
        touch(hit, programIndex);
        sum += hit.where;
    }
    out[programIndex] = sum;
}
