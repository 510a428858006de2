// Nor a load from one: the pointer is bad.
//~ run: f(a=zeros:1, k=1000) result == 3
export uniform int f(uniform int a[], uniform int k) {
    uniform int n = 3;
    if (programIndex < 0) n = a[k];
    return n;
}
