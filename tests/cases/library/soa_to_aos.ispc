// And back.
//~ run: f() a[i] == (i < 4 * W ? i : 0)
export void f(uniform float a[]) {
    float x = programIndex * 4, y = x + 1, z = x + 2, w = x + 3;
    if (programCount <= 16) soa_to_aos4(x, y, z, w, a);
    else {
        a[0] = 0;
        for (uniform int k = 0; k < 64; ++k) a[k] = k;
    }
}
