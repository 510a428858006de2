// Doubles, and floats that become doubles exactly.
export void f(uniform double out[], const uniform double a[], const uniform float b[], uniform int n) {
    foreach (i = 0 ... n) {
        double x = b[i];
        out[i] = a[i] / 3.0d + x * x;
    }
}
// call: f(out=zeros:f64:17, a=random:f64:17:1, b=random:f32:17:2, n=17)
