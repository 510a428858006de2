// Division goes toward zero; the remainder has the sign of the dividend.
export void f(uniform int q[], uniform int r[], const uniform int a[], const uniform int b[], uniform int n) {
    foreach (i = 0 ... n) {
        q[i] = a[i] / b[i];
        r[i] = a[i] % b[i];
    }
}
// call: f(q=zeros:i32:12, r=zeros:i32:12, a=[7, -7, 7, -7, 0, 1, -1, 2147483647, -2147483647, 100, 99, -99], b=[2, 2, -2, -2, 5, 3, 3, 10, 10, -7, 100, 100], n=12)
