// Escape times of a Julia set, as a smooth shade: a loop with a break, then a logarithm.
export void julia(uniform int width, uniform int height, uniform float cx, uniform float cy, uniform int limit,
                  uniform float shade[]) {
    foreach_tiled (row = 0 ... height, column = 0 ... width) {
        float x = 3.2f * (column + 0.5f) / width - 1.6f;
        float y = 2.4f * (row + 0.5f) / height - 1.2f;
        float reached = limit;
        for (int step = 0; step < limit; ++step) {
            float x2 = x * x, y2 = y * y;
            if (x2 + y2 > 16) {
                reached = step - 0.5f * log(x2 + y2);
                break;
            }
            y = 2 * x * y + cy;
            x = x2 - y2 + cx;
        }
        shade[row * width + column] = reached / limit;
    }
}
