// A step of the lattice Boltzmann method in the plane (nine directions): values are pulled from the neighbours, then collide.
export void lbm(uniform int width, uniform int height, uniform float omega, const uniform float from[], uniform float to[]) {
    uniform int plane = width * height;
    for (uniform int y = 1; y < height - 1; ++y) {
        foreach (x = 1 ... width - 1) {
            int at = y * width + x;
            float rest = from[at];
            float e = from[plane + at - 1], w = from[2 * plane + at + 1];
            float n = from[3 * plane + at - width], s = from[4 * plane + at + width];
            float ne = from[5 * plane + at - width - 1], sw = from[6 * plane + at + width + 1];
            float nw = from[7 * plane + at - width + 1], se = from[8 * plane + at + width - 1];
            float density = rest + e + w + n + s + ne + sw + nw + se;
            float over = 1 / density;
            float u = (e - w + ne - sw + se - nw) * over;
            float v = (n - s + ne - sw + nw - se) * over;
            float base = 1 - 1.5f * (u * u + v * v);
            float sum = u + v, difference = u - v;
            float d9 = density * 0.11111111f, d36 = density * 0.027777778f;
            to[at] = rest + omega * (density * 0.44444445f * base - rest);
            to[plane + at] = e + omega * (d9 * (base + 3 * u + 4.5f * u * u) - e);
            to[2 * plane + at] = w + omega * (d9 * (base - 3 * u + 4.5f * u * u) - w);
            to[3 * plane + at] = n + omega * (d9 * (base + 3 * v + 4.5f * v * v) - n);
            to[4 * plane + at] = s + omega * (d9 * (base - 3 * v + 4.5f * v * v) - s);
            to[5 * plane + at] = ne + omega * (d36 * (base + 3 * sum + 4.5f * sum * sum) - ne);
            to[6 * plane + at] = sw + omega * (d36 * (base - 3 * sum + 4.5f * sum * sum) - sw);
            to[7 * plane + at] = nw + omega * (d36 * (base - 3 * difference + 4.5f * difference * difference) - nw);
            to[8 * plane + at] = se + omega * (d36 * (base + 3 * difference + 4.5f * difference * difference) - se);
        }
    }
}
