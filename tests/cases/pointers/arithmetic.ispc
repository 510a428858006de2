// Adding to a pointer steps over elements.
//~ run: f(a=iota:10) result == 3 + 5 + 4 + 9
export uniform int f(uniform int a[]) {
    uniform int * uniform p = a;
    p += 3;
    uniform int r = *p + *(p + 2);
    ++p;
    r += *p++;
    return r + p[4];
}
