// A picture and nine weights, which are uniform; loops over the weights.
export void convolve(uniform int width, uniform int height, const uniform float weight[], const uniform float from[],
                     uniform float to[]) {
    foreach (y = 1 ... height - 1, x = 1 ... width - 1) {
        float sum = 0;
        for (uniform int dy = -1; dy <= 1; ++dy) {
            for (uniform int dx = -1; dx <= 1; ++dx)
                sum += weight[(dy + 1) * 3 + dx + 1] * from[(y + dy) * width + x + dx];
        }
        to[y * width + x] = sum;
    }
}
