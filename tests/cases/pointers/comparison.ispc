// Pointers into one array compare by position.
//~ run: f(a=zeros:10) result == 1 + 4 + 8 + 32
export uniform int f(uniform int a[]) {
    uniform int * uniform p = &a[2];
    uniform int * uniform q = &a[5];
    uniform int bits = 0;
    if (p < q) bits += 1;
    if (p > q) bits += 2;
    if (p != q) bits += 4;
    if (p + 3 == q) bits += 8;
    if (p >= q) bits += 16;
    if (p + 3 <= q) bits += 32;
    return bits;
}
