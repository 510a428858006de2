// The same in double.
//~ run: f(a=rand:23, b=rand:24) sum[i] == a[i] + b[i]; prod[i] == a[i] * b[i]; quot[i] == a[i] / b[i]
export void f(uniform double a[], uniform double b[], uniform double sum[], uniform double prod[], uniform double quot[]) {
    foreach (i = 0 ... 64) {
        sum[i] = a[i] + b[i];
        prod[i] = a[i] * b[i];
        quot[i] = a[i] / b[i];
    }
}
