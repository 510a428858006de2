// Heat flows through a plate: each step replaces every inner point by a mean of itself and its four neighbours.

static void step(uniform int width, uniform int height, uniform float rate,
                 const uniform float from[], uniform float to[])
{
    foreach (y = 1 ... height - 1, x = 1 ... width - 1) {
        int i = y * width + x;
        float center = from[i];
        float around = from[i - 1] + from[i + 1] + from[i - width] + from[i + width];
        to[i] = center + rate * (around - 4 * center);
    }
}

/// Takes `steps` steps of the heat equation on a plate of height rows of width numbers. The border keeps its values.
/// `a` holds the plate and, when `steps` is even, the result; `b` is scratch and must have the same border.
export void heat(uniform int width, uniform int height, uniform int steps, uniform float rate,
                 uniform float a[], uniform float b[])
{
    for (uniform int i = 0; i < steps; ++i) {
        // The condition is the same for all lanes: a jump, not a mask.
        if (i % 2 == 0)
            step(width, height, rate, a, b);
        else
            step(width, height, rate, b, a);
    }
}
