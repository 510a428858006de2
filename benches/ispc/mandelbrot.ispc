// The escape time of each point of the plane: lanes leave the loop at different times.
static inline int escape(float cx, float cy, uniform int limit) {
    float x = 0, y = 0;
    int step = 0;
    while (step < limit && x * x + y * y < 4) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        ++step;
    }
    return step;
}

export void mandelbrot(uniform int width, uniform int height, uniform int limit, uniform int steps[]) {
    uniform float dx = 3.0f / width, dy = 2.0f / height;
    foreach (row = 0 ... height, column = 0 ... width)
        steps[row * width + column] = escape(-2.1f + column * dx, -1.0f + row * dy, limit);
}
