// Only active lanes allocate.
//~ run: f() out[i] == (i < W ? (i % 2 == 0 ? i * 5 : -1) : 0)
export void f(uniform int out[]) {
    int *p = NULL;
    if (programIndex % 2 == 0) {
        p = new int;
        *p = programIndex * 5;
    }
    out[programIndex] = p == NULL ? -1 : *p;
    if (p != NULL) delete p;
}
