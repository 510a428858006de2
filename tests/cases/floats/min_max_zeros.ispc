// Zeros of either sign are equal, so the second operand comes out.
//~ run: f(a=[0.0, -0.0], b=[-0.0, 0.0]) lo[0] == -0.0; lo[1] == 0.0; hi[0] == -0.0; hi[1] == 0.0
export void f(uniform float a[], uniform float b[], uniform float lo[], uniform float hi[]) {
    foreach (i = 0 ... 2) {
        lo[i] = min(a[i], b[i]);
        hi[i] = max(a[i], b[i]);
    }
}
