// Negative zero equals zero but keeps its sign.
//~ run: f(z=-0.0) a[0] == -0.0; a[1] == 1.0; a[2] == -inf; a[3] == 0.0
export void f(uniform float z, uniform float a[]) {
    a[0] = z;
    a[1] = z == 0.0 ? 1.0 : 2.0;
    a[2] = 1.0 / z;
    a[3] = z + 0.0;
}
