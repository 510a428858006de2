// Functions that are called through pointers again and again, more of them than are remembered at a place, with constants as arguments:
// one has memory of its own, one calls another through a pointer.
//~ run: f(n=60, hole=-1) out[i] == (i < W ? 70 * i - 40 : 0)
//~ run: f(n=60, hole=50)
//~   trap: bad_function
typedef int (*uniform Function)(int x, uniform int y);

noinline int plus(int x, uniform int y) { return x + y; }
noinline int minus(int x, uniform int y) { return x - y; }
noinline int same(int x, uniform int y) { return x; }
noinline int twice(int x, uniform int y) { return 2 * x; }
noinline int stored(int x, uniform int y) {
    int own[3];
    own[y % 3] = x;
    return own[y % 3] + 1;
}
noinline int onward(int x, uniform int y) {
    Function next = (y & 1) != 0 ? &minus : &plus;
    return next(x, 5);
}

export void f(uniform int out[], uniform int n, uniform int hole) {
    Function all[6] = { &plus, &minus, &same, &twice, &stored, &onward };
    for (uniform int i = 0; i < n; ++i) {
        Function now = i == hole ? NULL : all[i % 6];
        out[programIndex] += now(programIndex, 7);
    }
}
