// Lanes load from and store to different arrays, in elements of every size, by indices of every type.
//~ run: f(a=iota:64, b=fill(i + 100):64, s=iota:64, l=iota:64, t=fill(i % 3 == 0):64, n=61) sums[i] == (i < 61 ? (i % 2 == 0 ? i : i + 100) + i + (i % 2 == 0 ? i : -i) + (i % 3 == 0 ? 7 : 0) : 0)
//~ also: a[i] == (i % 2 == 0 && i < 61 ? u8(3 * i) : i); b[i] == (i % 2 == 1 && i < 61 ? u8(3 * i) : i + 100); l[i] == (i < 61 ? -i : i)
// The last lane stores beyond its array: no lane does.
//~ run: g(a=fill(5):64, b=fill(6):63) a[i] == 5; b[i] == 6
//~ trap: out_of_bounds
export void f(uniform unsigned int8 a[], uniform unsigned int8 b[], uniform int16 s[], uniform int64 l[], uniform bool t[],
              uniform int n, uniform int sums[]) {
    uniform int64 spare[64];
    for (uniform int k = 0; k < 64; ++k) spare[k] = -k;
    foreach (i = 0 ... n) {
        uniform unsigned int8 * varying bytes = b;
        uniform int16 * varying shorts = s + i;
        uniform int64 * varying longs = spare;
        uniform bool * varying truths = t;
        if (i % 2 == 0) {
            bytes = a;
            longs = l;
        } else {
            shorts = s;
        }
        int64 at = i;
        unsigned int16 near = i;
        int sum = bytes[at] + (i % 2 == 0 ? shorts[0] : shorts[near]) + (int)longs[at];
        if (truths[i]) sum += 7;
        sums[i] = sum;
        bytes[(unsigned int64)at] = (unsigned int8)(3 * i);
        longs = l + i;
        longs[0] = -at;
    }
}
export void g(uniform int a[], uniform int b[]) {
    foreach (i = 0 ... 64) {
        uniform int * varying p = a;
        if (i >= 32) p = b;
        p[i == 63 ? i : i & 31] = 5 + (i >= 32 ? 1 : 0);
    }
}
