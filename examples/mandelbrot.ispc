// The Mandelbrot set: each lane iterates its own pixel until it escapes; lanes that are done wait, masked off.

// Iterations until z = z*z + c leaves the circle of radius 2.
static inline int iterations(float c_re, float c_im, uniform int limit)
{
    float re = c_re, im = c_im;
    int i;
    for (i = 0; i < limit; ++i) {
        if (re * re + im * im > 4)
            break;                      // only the lanes that have escaped leave the loop
        float new_re = re * re - im * im;
        float new_im = 2 * re * im;
        re = c_re + new_re;
        im = c_im + new_im;
    }
    return i;
}

/// Fills `counts` (height rows of width columns) with the iterations of each pixel, at most `limit`.
/// The picture spans x0 to x1 and y0 to y1.
export void mandelbrot(uniform float x0, uniform float y0, uniform float x1, uniform float y1,
                       uniform int width, uniform int height, uniform int limit, uniform int counts[])
{
    uniform float dx = (x1 - x0) / width;
    uniform float dy = (y1 - y0) / height;
    for (uniform int row = 0; row < height; ++row) {
        foreach (column = 0 ... width) {
            float x = x0 + column * dx;
            float y = y0 + row * dy;
            counts[row * width + column] = iterations(x, y, limit);
        }
    }
}
