// The temperature of a plate whose edges are held: every point goes to the mean of its neighbours until the host, which is
// shown the plate now and then, has seen enough.

/// The host's: shall it go on? `change` is the greatest change of the last round.
extern "C" uniform bool go_on(uniform int round, uniform float change, const uniform float plate[]);

/// Relaxes a plate of so many rows and columns; looks at the host's word every `interval` rounds. Gives the rounds taken.
export uniform int relax(uniform float plate[], uniform float other[], uniform int rows, uniform int columns,
                         uniform int interval) {
    uniform float * uniform from = plate;
    uniform float * uniform to = other;
    for (uniform int round = 1; ; ++round) {
        float change = 0;
        foreach (y = 1 ... rows - 1, x = 1 ... columns - 1) {
            const int at = y * columns + x;
            const float mean = 0.25f * (from[at - 1] + from[at + 1] + (from[at - columns] + from[at + columns]));
            change = max(change, abs(mean - from[at]));
            to[at] = mean;
        }
        uniform float * uniform last = from;
        from = to;
        to = last;
        if (round % interval == 0 && !go_on(round, reduce_max(change), from))
            return round;
    }
}
