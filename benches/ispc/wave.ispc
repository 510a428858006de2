// A wave on a plate in doubles, with a damping that depends on the place.
export void wave(uniform int width, uniform int height, uniform double speed, const uniform double damping[],
                 const uniform double now[], uniform double next[]) {
    foreach (y = 1 ... height - 1, x = 1 ... width - 1) {
        int at = y * width + x;
        double bend = now[at - 1] + now[at + 1] + now[at - width] + now[at + width] - 4 * now[at];
        next[at] = (2 * now[at] - next[at] * (1 - damping[at]) + speed * bend) / (1 + damping[at]);
    }
}
