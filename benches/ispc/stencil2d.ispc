// Five points of a plate, for several steps to and fro between two arrays.
static void relax(uniform int width, uniform int height, const uniform float from[], uniform float to[]) {
    foreach (y = 1 ... height - 1, x = 1 ... width - 1) {
        int at = y * width + x;
        to[at] = 0.5f * from[at] + 0.125f * (from[at - 1] + from[at + 1] + from[at - width] + from[at + width]);
    }
}

export void stencil2d(uniform int width, uniform int height, uniform int pairs, uniform float a[], uniform float b[]) {
    for (uniform int pair = 0; pair < pairs; ++pair) {
        relax(width, height, a, b);
        relax(width, height, b, a);
    }
}
