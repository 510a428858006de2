// Reading and writing through a uniform pointer.
//~ run: f(a=iota:4) a[i] == (i == 2 ? 22 : i)
export void f(uniform int a[]) {
    uniform int * uniform p = &a[2];
    *p = *p + 20;
}
