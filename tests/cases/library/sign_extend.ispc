// All bits set for true.
//~ run: f() out[i] == (i % 3 == 0 ? -1 : 0)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = sign_extend(i % 3 == 0);
}
