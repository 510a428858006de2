// A picture scaled to another size: four gathers per pixel.
export void bilinear(uniform int width, uniform int height, uniform int new_width, uniform int new_height,
                     const uniform float from[], uniform float to[]) {
    uniform float sx = (uniform float)width / new_width, sy = (uniform float)height / new_height;
    foreach (row = 0 ... new_height, column = 0 ... new_width) {
        float fx = clamp((column + 0.5f) * sx - 0.5f, 0.0f, width - 1.0f);
        float fy = clamp((row + 0.5f) * sy - 0.5f, 0.0f, height - 1.0f);
        int x0 = (int)fx, y0 = (int)fy;
        int x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
        fx -= x0;
        fy -= y0;
        float top = from[y0 * width + x0] * (1 - fx) + from[y0 * width + x1] * fx;
        float bottom = from[y1 * width + x0] * (1 - fx) + from[y1 * width + x1] * fx;
        to[row * new_width + column] = top * (1 - fy) + bottom * fy;
    }
}
