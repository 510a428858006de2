// Each bound is evaluated exactly once, the start first.
//~ run: f() result == 2; out[i] == (i >= 1 && i < 42)
uniform int counter = 0;
static uniform int next() { return ++counter; }
export uniform int f(uniform int out[]) {
    counter = 0;
    foreach (i = next() ... next() + 40) out[i] += 1;
    return counter;
}
