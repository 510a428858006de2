// A wave in a box: second differences with two neighbours on each side of each axis.
export void stencil3d(uniform int nx, uniform int ny, uniform int nz, uniform float speed, const uniform float now[],
                      uniform float next[]) {
    uniform int row = nx, plane = nx * ny;
    for (uniform int z = 2; z < nz - 2; ++z) {
        for (uniform int y = 2; y < ny - 2; ++y) {
            foreach (x = 2 ... nx - 2) {
                int at = z * plane + y * row + x;
                float near = now[at - 1] + now[at + 1] + now[at - row] + now[at + row] + now[at - plane] + now[at + plane];
                float far = now[at - 2] + now[at + 2] + now[at - 2 * row] + now[at + 2 * row] + now[at - 2 * plane] +
                            now[at + 2 * plane];
                float bend = -7.5f * now[at] + 1.3333334f * near - 0.083333336f * far;
                next[at] = 2 * now[at] - next[at] + speed * bend;
            }
        }
    }
}
