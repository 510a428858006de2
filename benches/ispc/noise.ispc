// Smooth noise of several octaves: random numbers at whole points by a hash, and smooth ways between.
static inline float corner(int x, int y) {
    uint32 h = (uint32)x * 0x85ebca6bu + (uint32)y * 0xc2b2ae35u;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 13;
    return (float)(int)(h >> 9) * (1.0f / 8388608.0f);
}

static inline float smooth_noise(float x, float y) {
    float fx = floor(x), fy = floor(y);
    int ix = (int)fx, iy = (int)fy;
    float tx = x - fx, ty = y - fy;
    tx = tx * tx * (3 - 2 * tx);
    ty = ty * ty * (3 - 2 * ty);
    float top = corner(ix, iy) + tx * (corner(ix + 1, iy) - corner(ix, iy));
    float bottom = corner(ix, iy + 1) + tx * (corner(ix + 1, iy + 1) - corner(ix, iy + 1));
    return top + ty * (bottom - top);
}

export void noise(uniform int width, uniform int height, uniform int octaves, uniform float image[]) {
    foreach (row = 0 ... height, column = 0 ... width) {
        float sum = 0;
        uniform float amount = 0.5f, scale = 0.03125f;
        for (uniform int octave = 0; octave < octaves; ++octave) {
            sum += amount * smooth_noise(column * scale, row * scale);
            amount *= 0.5f;
            scale *= 2;
        }
        image[row * width + column] = sum;
    }
}
