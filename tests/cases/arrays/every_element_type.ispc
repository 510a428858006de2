// Arrays of each numeric type go in and out.
//~ run: f(a=fill(i - 5), b=fill(i - 5), c=fill(i - 5), d=fill(i * 0.5)) a[i] == i - 4; b[i] == i - 4; c[i] == i - 4; d[i] == i * 0.5 + 1
export void f(uniform int8 a[], uniform int16 b[], uniform int64 c[], uniform double d[]) {
    foreach (i = 0 ... 64) {
        a[i] += 1;
        b[i] += 1;
        c[i] += 1;
        d[i] += 1;
    }
}
