// A pointer parameter of an exported function.
//~ run: f(p=iota:5, n=5) result == 10
export uniform int f(uniform int * uniform p, uniform int n) {
    uniform int sum = 0;
    for (uniform int k = 0; k < n; ++k) sum += *p++;
    return sum;
}
