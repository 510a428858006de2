// Gradient noise in three dimensions (Perlin, "Improving Noise", SIGGRAPH 2002), with a hash in place of his table.

// 32 well-mixed bits for a corner of the lattice.
static inline unsigned int corner_hash(int x, int y, int z)
{
    unsigned int h = (unsigned int)x * 0x8da6b343 + (unsigned int)y * 0xd8163841 + (unsigned int)z * 0xcb1ab31f;
    h = (h ^ (h >> 15)) * 0x2c1b3c6d;
    h = (h ^ (h >> 12)) * 0x297a2d39;
    return h ^ (h >> 15);
}

// The product of (x, y, z) with one of twelve directions, to the middles of a cube's edges, chosen by the hash.
static inline float gradient(unsigned int hash, float x, float y, float z)
{
    unsigned int h = hash & 15;
    float u = h < 8 ? x : y;
    float v = h < 4 ? y : (h == 12 || h == 14 ? x : z);
    return ((h & 1) == 0 ? u : -u) + ((h & 2) == 0 ? v : -v);
}

// Rises from 0 to 1 with first and second derivatives of 0 at both ends.
static inline float fade(float t)
{
    return t * t * t * (t * (t * 6 - 15) + 10);
}

static inline float mix(float t, float a, float b)
{
    return a + t * (b - a);
}

/// Smooth noise between about -1 and 1. Called from Python like a numpy ufunc.
export float noise(float x, float y, float z)
{
    float fx = floor(x), fy = floor(y), fz = floor(z);
    int ix = (int)fx, iy = (int)fy, iz = (int)fz;
    x -= fx;
    y -= fy;
    z -= fz;
    float u = fade(x), v = fade(y), w = fade(z);

    // The four edges of the cell along x, then the two faces, then between them.
    float edge[4];
    for (uniform int k = 0; k < 4; ++k) {
        uniform int j = k & 1, l = k >> 1;
        float low = gradient(corner_hash(ix, iy + j, iz + l), x, y - j, z - l);
        float high = gradient(corner_hash(ix + 1, iy + j, iz + l), x - 1, y - j, z - l);
        edge[k] = mix(u, low, high);
    }
    return mix(w, mix(v, edge[0], edge[1]), mix(v, edge[2], edge[3]));
}

/// Noise of several octaves over a picture of height rows of width numbers; `scale` cells fit into its height.
export void turbulence(uniform int width, uniform int height, uniform float scale, uniform int octaves,
                       uniform float image[])
{
    foreach (row = 0 ... height, column = 0 ... width) {
        float x = column * scale / height, y = row * scale / height;
        float sum = 0;
        uniform float amplitude = 0.5f;
        uniform float frequency = 1;
        for (uniform int k = 0; k < octaves; ++k) {
            sum += amplitude * abs(noise(x * frequency, y * frequency, 0.5f + k));
            amplitude *= 0.5f;
            frequency *= 2;
        }
        image[row * width + column] = sum;
    }
}
