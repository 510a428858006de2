// Negative and large case values, and constant expressions.
//~ run: f(a=[-1, 2147483647, 6, 0]) out[0] == 1; out[1] == 2; out[2] == 3; out[3] == 4
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 4) {
        switch (a[i]) {
        case -1: out[i] = 1; break;
        case 0x7fffffff: out[i] = 2; break;
        case 2 * 3: out[i] = 3; break;
        default: out[i] = 4;
        }
    }
}
