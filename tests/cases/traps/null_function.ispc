// A call through a null function pointer.
//~ run: f()
//~   trap: bad_function
typedef uniform int (* uniform Function)(uniform int);
export uniform int f() {
    Function g = NULL;
    return g(3);
}
