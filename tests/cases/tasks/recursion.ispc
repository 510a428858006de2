// A task that launches itself: sums of a range, halved until it is short.
//~ run: f(n=1000) result == 499500
//~ run: f(n=1) result == 0
//~ run: f(n=10000) result == 49995000
task void sum(uniform int64 lo, uniform int64 hi, uniform int64 *uniform result) {
    if (hi - lo <= 8) {
        for (uniform int64 i = lo; i < hi; ++i) *result += i;
        return;
    }
    const uniform int64 middle = (lo + hi) / 2;
    uniform int64 halves[2] = {0, 0};
    launch sum(lo, middle, &halves[0]);
    launch sum(middle, hi, &halves[1]);
    sync;
    *result = halves[0] + halves[1];
}
export uniform int64 f(uniform int n) {
    uniform int64 result = 0;
    launch sum(0, n, &result);
    sync;
    return result;
}
