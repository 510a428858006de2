// A void pointer goes together with any other: they are compared as void pointers. NULL takes the other's type.
//~ run: f(a=iota:8) result == 1 + 2 + 4 + 3
export uniform int f(uniform int a[]) {
    void *uniform raw = &a[3];
    uniform int *uniform typed = &a[3];
    const uniform int *uniform fixed = typed;
    uniform int n = raw == typed ? 1 : 0;
    n += typed != raw ? 0 : 2;
    n += fixed == raw ? 4 : 0;
    uniform int *uniform either = n > 0 ? typed : NULL;
    uniform int *varying lanes = programIndex >= 0 ? typed : NULL;
    assert(raw == lanes);
    return n + *either;
}
