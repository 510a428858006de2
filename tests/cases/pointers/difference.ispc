// The difference of two pointers counts elements.
//~ run: f(a=zeros:20) result == 11 * 100 - 4
export uniform int64 f(uniform int64 a[]) {
    uniform int64 * uniform p = &a[4];
    uniform int64 * uniform q = &a[15];
    return (q - p) * 100 - (p - a);
}
