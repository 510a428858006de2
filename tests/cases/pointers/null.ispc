// NULL, and pointers as conditions.
//~ run: f(a=zeros:1) result == 1 + 4 + 8
export uniform int f(uniform int a[]) {
    uniform int * uniform p = NULL;
    uniform int bits = 0;
    if (p == NULL) bits += 1;
    if (p) bits += 2;
    if (!p) bits += 4;
    p = a;
    if (p) bits += 8;
    return bits;
}
