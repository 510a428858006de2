// `?:` with a varying condition, nested and with different types.
export void f(uniform float out[], const uniform int in[], uniform int n) {
    foreach (i = 0 ... n) {
        int x = in[i];
        out[i] = x < 10 ? x * 0.5f : x < 20 ? x : -1;
    }
}
// call: f(out=zeros:f32:30, in=iota:i32:30, n=30)
