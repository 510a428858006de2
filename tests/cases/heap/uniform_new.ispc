// One allocation for the gang.
//~ run: f(n=10) result == 285
export uniform int f(uniform int n) {
    uniform int * uniform p = uniform new uniform int[n];
    for (uniform int k = 0; k < n; ++k) p[k] = k * k;
    uniform int sum = 0;
    for (uniform int k = 0; k < n; ++k) sum += p[k];
    delete[] p;
    return sum;
}
