// In a loop that lanes leave at different times, with `break` and `continue` around it.
//~ run: f() out[i] == (i < W ? W * sum(k, 0, min(i, 5) + 0, k == 2 ? 0 : k) : 0)
static uniform int spread(uniform int x) { return reduce_add((varying int)x); }
export void f(uniform int out[]) {
    int sum = 0;
    for (int k = 0; k < programIndex; ++k) {
        if (k == 5) break;
        if (k == 2) continue;
        sum += crev spread(k);
    }
    out[programIndex] = sum;
}
//~ run: g() out[i] == (i < W ? W * i * (i + 1) / 2 : 0)
export void g(uniform int out[]) {
    int n = programIndex, sum = 0;
    while (n > 0) {
        sum += crev spread(n);
        --n;
    }
    out[programIndex] = sum;
}
//~ run: h() out[i] == (i < W ? W * (i % 3 == 0 ? 10 : i % 3 == 1 ? 31 : 20) : 0)
export void h(uniform int out[]) {
    int r = 0;
    switch (programIndex % 3) {
    case 0: r = crev spread(10); break;
    case 1: r = crev spread(11);  // falls through
    default: r += crev spread(20);
    }
    out[programIndex] = r;
}
