// And, or, exclusive or and complement on unsigned words.
//~ run: f(a=rand:1, b=rand:2) out[i] == u32((a[i] & b[i]) ^ (a[i] | ~b[i]))
export void f(uniform uint32 a[], uniform uint32 b[], uniform uint32 out[]) {
    foreach (i = 0 ... 64)
        out[i] = (a[i] & b[i]) ^ (a[i] | ~b[i]);
}
