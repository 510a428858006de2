// The strength of edges in a picture of bytes.
export void sobel(uniform int width, uniform int height, const uniform uint8 from[], uniform uint8 to[]) {
    for (uniform int y = 1; y < height - 1; ++y) {
        const uniform uint8 * uniform above = from + (y - 1) * width;
        const uniform uint8 * uniform here = from + y * width;
        const uniform uint8 * uniform below = from + (y + 1) * width;
        foreach (x = 1 ... width - 1) {
            int left = above[x - 1] + 2 * (int)here[x - 1] + below[x - 1];
            int right = above[x + 1] + 2 * (int)here[x + 1] + below[x + 1];
            int top = above[x - 1] + 2 * (int)above[x] + above[x + 1];
            int bottom = below[x - 1] + 2 * (int)below[x] + below[x + 1];
            to[y * width + x] = (uint8)min(abs(right - left) + abs(bottom - top), 255);
        }
    }
}
