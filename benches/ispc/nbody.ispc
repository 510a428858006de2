// The pull of all bodies on each: a uniform inner loop, with a reciprocal square root.
export void nbody(uniform int n, uniform float softening, const uniform float x[], const uniform float y[],
                  const uniform float z[], const uniform float mass[], uniform float ax[], uniform float ay[],
                  uniform float az[]) {
    foreach (i = 0 ... n) {
        float px = x[i], py = y[i], pz = z[i];
        float sx = 0, sy = 0, sz = 0;
        for (uniform int j = 0; j < n; ++j) {
            float dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
            float inverse = 1 / sqrt(dx * dx + dy * dy + dz * dz + softening);
            float pull = mass[j] * inverse * inverse * inverse;
            sx += pull * dx;
            sy += pull * dy;
            sz += pull * dz;
        }
        ax[i] = sx;
        ay[i] = sy;
        az[i] = sz;
    }
}
