// Short-circuit evaluation of uniform operands.
//~ run: f(a=iota:4, k=9) result == 0
//~ run: f(a=iota:4, k=3) result == 1
export uniform int f(uniform int a[], uniform int k) {
    if (k < 4 && a[k] == 3)
        return 1;
    return 0;
}
