export uniform float[] f() { return 0; }
export void g(uniform float[] x, uniform float[4] y) {
    uniform int[3] z;
    uniform float[2][3] w = { { 1, 2, 3 } };
    z[0] = 1;
}
