// The index of the point that lies nearest to a place: the least of each lane, then of all.
export uniform int nearest(uniform int n, uniform float px, uniform float py, const uniform float x[],
                           const uniform float y[]) {
    float best = 1e30f;
    int at = 0x7fffffff;
    foreach (i = 0 ... n) {
        float dx = x[i] - px, dy = y[i] - py;
        float d = dx * dx + dy * dy;
        if (d < best) {
            best = d;
            at = i;
        }
    }
    uniform float least = reduce_min(best);
    return reduce_min(best == least ? at : 0x7fffffff);
}
