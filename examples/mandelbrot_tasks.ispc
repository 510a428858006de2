// The Mandelbrot set on all cores: each task computes a band of rows, and whichever thread is free takes the next one.

// Iterations until z = z*z + c leaves the circle of radius 2.
static inline int iterations(float c_re, float c_im, uniform int limit)
{
    float re = c_re, im = c_im;
    int i;
    for (i = 0; i < limit; ++i) {
        if (re * re + im * im > 4)
            break;
        float new_re = re * re - im * im;
        float new_im = 2 * re * im;
        re = c_re + new_re;
        im = c_im + new_im;
    }
    return i;
}

struct Picture {
    uniform float x0, y0;               // its corner
    uniform float dx, dy;               // the size of a pixel
    uniform int width, height;
};

// The rows of one task.
task void band(uniform Picture picture, uniform int rows, uniform int limit, uniform int counts[])
{
    uniform int first = taskIndex * rows;
    uniform int last = min(first + rows, picture.height);
    foreach (row = first ... last, column = 0 ... picture.width) {
        float x = picture.x0 + column * picture.dx;
        float y = picture.y0 + row * picture.dy;
        counts[row * picture.width + column] = iterations(x, y, limit);
    }
}

/// As `mandelbrot`, in tasks of so many rows. They all are done when it returns.
export void mandelbrot_tasks(uniform float x0, uniform float y0, uniform float x1, uniform float y1, uniform int width,
                             uniform int height, uniform int limit, uniform int rows, uniform int counts[])
{
    uniform Picture picture = { x0, y0, (x1 - x0) / width, (y1 - y0) / height, width, height };
    launch[(height + rows - 1) / rows] band(picture, rows, limit, counts);
}
