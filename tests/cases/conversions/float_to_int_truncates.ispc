// A float becomes an integer by dropping its fraction.
//~ run: f(a=fill((i - 32) * 0.75)) out[i] == int(trunc((i - 32) * 0.75))
export void f(uniform float a[], uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = (int)a[i];
}
