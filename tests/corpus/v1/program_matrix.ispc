// A whole program: the product of matrices, added in order.
export void f(uniform float c[], const uniform float a[], const uniform float b[], uniform int n) {
    foreach (y = 0 ... n, x = 0 ... n) {
        float sum = 0;
        for (uniform int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
        c[y * n + x] = sum;
    }
}
// call: f(c=zeros:f32:81, a=random:f32:81:1, b=random:f32:81:2, n=9)
