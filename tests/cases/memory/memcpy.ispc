// Copying bytes.
//~ run: f(a=iota) out[i] == (i < 10 ? i : 0)
export void f(uniform int a[], uniform int out[]) { memcpy(out, a, 10 * sizeof(uniform int)); }
