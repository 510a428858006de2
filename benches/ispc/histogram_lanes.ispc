// Counts in 64 bins, a histogram per lane: no two lanes meet, and all are added in the end.
export void histogram_lanes(uniform int n, const uniform float data[], uniform int counts[]) {
    int own[64];
    for (uniform int b = 0; b < 64; ++b)
        own[b] = 0;
    foreach (i = 0 ... n) {
        int bin = clamp((int)(data[i] * 64), 0, 63);
        own[bin] += 1;
    }
    for (uniform int b = 0; b < 64; ++b)
        counts[b] = (uniform int)reduce_add(own[b]);
}
