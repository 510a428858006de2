// The sum of floats is a fixed tree, so that it has the same bits in every run.
//~ run: f(a=rand:40) out[0] == out[0]
export void f(uniform float a[], uniform float out[]) { out[1] = reduce_add(a[programIndex]); }
