// A varying enum in comparisons and switch.
//~ run: f() out[i] == (i % 3 == 0 ? 10 : i % 3 == 1 ? 20 : 30)
enum Kind { A, B, C };
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        Kind k = (Kind)(i % 3);
        switch (k) {
        case A: out[i] = 10; break;
        case B: out[i] = 20; break;
        case C: out[i] = 30; break;
        }
    }
}
