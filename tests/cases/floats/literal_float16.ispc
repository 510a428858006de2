// The suffix `f16`.
//~ run: f() a[0] == 2.0; a[1] == f16(0.1); a[2] == -inf
export void f(uniform float16 a[]) {
    a[0] = 2.0f16;
    a[1] = 0.1f16;
    a[2] = -65520.f16;
}
