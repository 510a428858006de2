// Reads by indices that repeat; writes by indices that do not.
export void f(uniform float out[], const uniform float in[], const uniform int at[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = in[at[i]];
        out[(i * 7) % n] = x + in[n - 1 - i];
    }
}
// call: f(out=zeros:f32:20, in=random:f32:20:7, at=[0, 0, 5, 5, 19, 3, 2, 1, 0, 7, 7, 7, 7, 12, 13, 14, 1, 2, 3, 19], n=20)
