// A uniform switch with fall-through and default.
//~ run: f(k=0) result == 3
//~ run: f(k=1) result == 2
//~ run: f(k=7) result == 100
export uniform int f(uniform int k) {
    uniform int n = 0;
    switch (k) {
    case 0: n += 1;
    case 1: n += 2; break;
    default: n = 100;
    }
    return n;
}
