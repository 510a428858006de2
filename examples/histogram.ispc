// A histogram: many lanes may want to count into one bin at once, so each lane has bins of its own, added up at the end.

#ifndef BINS
#define BINS 256
#endif

/// Adds to `counts` (BINS numbers) how many of the `n` elements of `data` fall into each bin; what lies outside of
/// `low` to `high` counts in the first or last bin.
export void histogram(uniform int n, uniform float low, uniform float high, const uniform float data[],
                      uniform int counts[])
{
    int bins[BINS];     // one histogram per lane
    for (uniform int b = 0; b < BINS; ++b)
        bins[b] = 0;

    uniform float scale = BINS / (high - low);
    foreach (i = 0 ... n) {
        int bin = clamp((int)floor((data[i] - low) * scale), 0, BINS - 1);
        bins[bin] += 1;
    }

    for (uniform int b = 0; b < BINS; ++b) {
        // All lanes are on here, so none is missed.
        counts[b] += reduce_add(bins[b]);
    }
}
