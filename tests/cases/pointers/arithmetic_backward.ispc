// Subtraction, decrement and negative indices.
//~ run: f(a=iota:10) result == 6 + 4 + 5
export uniform int f(uniform int a[]) {
    uniform int * uniform p = a + 9;
    p -= 3;
    uniform int r = *p;
    r += p[-2];
    return r + *--p;
}
