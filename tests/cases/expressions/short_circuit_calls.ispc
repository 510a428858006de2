// A function on the right of `&&` is called only for the lanes that need it.
//~ run: f() calls[0] == (W > 2 ? 2 : 1); out[i] == (i < W && i >= 2)
uniform int count = 0;
bool noted(uniform int calls[]) {
    count = count + 1;
    calls[0] = count;
    return true;
}
export void f(uniform int out[], uniform int calls[]) {
    count = 1;
    calls[0] = 1;
    if (programIndex >= 2 && noted(calls))
        out[programIndex] = 1;
}
