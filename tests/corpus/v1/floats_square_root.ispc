// Square roots are rounded correctly.
export void f(uniform float out[], const uniform float in[], uniform int n) {
    foreach (i = 0 ... n) out[i] = sqrt(abs(in[i]));
}
// call: f(out=zeros:f32:40, in=random:f32:40:11, n=40)
