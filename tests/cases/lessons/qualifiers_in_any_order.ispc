// `const`, `uniform` and the type's name stand in any order, in casts and declarations.
//~ run: f(a=iota) out[i] == (i < 6 ? 2 : 0)
export void f(uniform int a[], uniform int out[]) {
    int uniform const k = 2;
    out[0] = *(int uniform * uniform)(&a[k]);
    out[1] = *(uniform int * uniform)(&a[k]);
    out[2] = *(int const uniform * uniform)(&a[k]);
    out[3] = (int uniform)2.75f;
    out[4] = (const uniform int)2.75f;
    unsigned int uniform u = (int unsigned uniform)k;
    out[5] = (uniform int)u;
}
