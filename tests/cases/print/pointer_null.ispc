// A null pointer.
//~ run: f()
//~   print: 1
export void f() {
    uniform int * uniform p = NULL;
    print("%\n", p == NULL ? 1 : 0);
}
