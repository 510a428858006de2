// A whole program: numbers are struck out by strided stores.
export void f(uniform int8 prime[], uniform int n) {
    foreach (i = 2 ... n) prime[i] = 1;
    for (uniform int p = 2; p * p < n; ++p) {
        if (prime[p] == 0) continue;
        uniform int count = (n - 1) / p;
        foreach (k = 2 ... count + 1) prime[k * p] = 0;
    }
}
// call: f(prime=zeros:i8:60, n=60)
