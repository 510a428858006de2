// Inactive lanes may hold null pointers.
//~ run: f(a=iota) out[i] == (i % 2 == 0 ? i : -1)
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        uniform int * varying p = NULL;
        if (i % 2 == 0) p = &a[i];
        int v = -1;
        if (p != NULL) v = *p;
        out[i] = v;
    }
}
