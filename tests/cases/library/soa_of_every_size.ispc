// To vectors and back for 2, 3 and 4 components; inactive lanes neither load nor store.
//~ run: f(a=iota:256, n=12) two[i] == (i < 2 * min(W, n) ? a[i] : 0); three[i] == (i < 3 * min(W, n) ? a[i] : 0); four[i] == (i < 4 * min(W, n) ? a[i] : 0)
//~ also: d[i] == (i < min(W, n) ? 4 * i + 3 : 0)
export void f(uniform int a[], uniform int n, uniform int two[], uniform int three[], uniform int four[], uniform int d[]) {
    int x, y, z, w;
    if (programIndex < n) {
        aos_to_soa2(a, &x, &y);
        soa_to_aos2(x, y, two);
        aos_to_soa3(a, &x, &y, &z);
        soa_to_aos3(x, y, z, three);
        aos_to_soa4(a, &x, &y, &z, &w);
        soa_to_aos4(x, y, z, w, four);
        d[programIndex] = w;
    }
}
