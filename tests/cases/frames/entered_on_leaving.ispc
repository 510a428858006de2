// Memory of frames for which compiled code has no need is there once the interpreter goes on in the middle of a function.
//~ run: f(n=60) out[i] == (i < 60 ? 3 * (i % 10) + (i % 10 == 7 ? 1000 : 0) + 5 : 0)
//~ run: g(n=60) out[i] == (i < 60 ? (i % 8 == 5 ? 2 * i : i) + 7 : 0)
//~ run: numbers(n=300) out[0] == 300; out[1] == 2
struct Pair { uniform int a; uniform int b; uniform int rest[3]; };
static void fill(uniform Pair &p, uniform int k) {
    p.a = k;
    p.b = 2 * k;
}
// The rare way looks at members that the other leaves alone, and at the whole array.
static uniform int total(uniform int k) {
    uniform Pair p;
    p.rest[0] = 0;
    p.rest[1] = 0;
    p.rest[2] = 5;
    fill(p, k);
    uniform int sum = p.a + p.b;
    if (k == 7) {
        p.rest[k - 7] = 1000;
        uniform int * uniform at = &p.rest[0];
        for (uniform int i = 0; i < 3; ++i)
            sum += at[i];
        return sum;
    }
    return sum + p.rest[2];
}
export void f(uniform int n, uniform int out[]) {
    for (uniform int i = 0; i < n; ++i)
        out[i] = total(i % 10);
}
// What has been stored in place is still there.
static uniform int in_place(uniform int k) {
    uniform int part[8];
    for (uniform int i = 0; i < 8; ++i)
        part[i] = 7;
    part[k & 7] += k;
    if ((k & 7) == 5) {
        uniform int * uniform p = &part[k & 7];
        *p += k;
    }
    return part[k & 7];
}
export void g(uniform int n, uniform int out[]) {
    for (uniform int i = 0; i < n; ++i)
        out[i] = in_place(i);
}
// A program may see the number of a region: frames without one count.
static uniform int64 number() {
    uniform int seen = 1;
    uniform int * uniform p = &seen;
    return ((uniform int64)p) >> 40;
}
export void numbers(uniform int n, uniform int out[]) {
    uniform int64 first = number();
    for (uniform int i = 0; i < n; ++i)
        out[1] = total(i & 3) - 3 * (i & 3) - 3;
    out[0] = (uniform int)(number() - first - 1);
}
