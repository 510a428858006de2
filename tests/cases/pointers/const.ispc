// A pointer to const reads.
//~ run: f(a=iota) result == 2016
export uniform int f(const uniform int a[]) {
    const uniform int * uniform p = a;
    int sum = 0;
    foreach (i = 0 ... 64) sum += p[i];
    return reduce_add(sum);
}
