// A step of k-means in the plane: each point goes to the nearest centre, then centres move to the mean of their points.
export void kmeans(uniform int n, uniform int k, const uniform float x[], const uniform float y[], uniform float cx[],
                   uniform float cy[], uniform int label[]) {
    foreach (i = 0 ... n) {
        float px = x[i], py = y[i];
        float best = 1e30f;
        int nearest = 0;
        for (uniform int c = 0; c < k; ++c) {
            float dx = px - cx[c], dy = py - cy[c];
            float d = dx * dx + dy * dy;
            if (d < best) {
                best = d;
                nearest = c;
            }
        }
        label[i] = nearest;
    }
    for (uniform int c = 0; c < k; ++c) {
        float sx = 0, sy = 0;
        int count = 0;
        foreach (i = 0 ... n) {
            if (label[i] == c) {
                sx += x[i];
                sy += y[i];
                ++count;
            }
        }
        uniform int points = (uniform int)reduce_add(count);
        if (points > 0) {
            cx[c] = reduce_add(sx) / points;
            cy[c] = reduce_add(sy) / points;
        }
    }
}
