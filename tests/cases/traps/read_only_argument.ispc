// Nor can an array that was passed for reading.
//~ run: f(a=readonly iota) a[i] == i
//~   trap: read_only
export void f(const uniform int a[]) {
    uniform int * uniform p = (uniform int * uniform)a;
    p[3] = 5;
}
