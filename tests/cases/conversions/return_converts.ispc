// A returned value is converted to the result type.
//~ run: f() out[i] == i / 2
static int half_of(int x) { return x * 0.5; }
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = half_of(i);
}
