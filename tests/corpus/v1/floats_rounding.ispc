// Rounding functions: to even, down, up.
export void f(uniform float out[], const uniform float in[], uniform int n) {
    foreach (i = 0 ... n) {
        out[3 * i] = round(in[i]);
        out[3 * i + 1] = floor(in[i]);
        out[3 * i + 2] = ceil(in[i]);
    }
}
// call: f(out=zeros:f32:30, in=[0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 8388609, -3.7, 3.2, 0], n=10)
