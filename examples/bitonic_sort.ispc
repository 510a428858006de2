// Bitonic sort (Batcher 1968): a network of comparisons that do not depend on the data, so that lanes never diverge.

/// Sorts `n` numbers in place, smallest first; `n` must be a power of two.
export void bitonic_sort(uniform int n, uniform float data[])
{
    assert((n & (n - 1)) == 0);
    // Runs of length 2, 4, 8 … become sorted, alternately upwards and downwards.
    for (uniform int run = 2; run <= n; run *= 2) {
        for (uniform int distance = run / 2; distance > 0; distance /= 2) {
            // Each lane takes one pair: i is the lower of two elements that lie `distance` apart.
            foreach (pair = 0 ... n / 2) {
                int i = 2 * pair - (pair & (distance - 1));
                int j = i + distance;
                float a = data[i], b = data[j];
                bool upwards = (i & run) == 0;
                data[i] = upwards ? min(a, b) : max(a, b);
                data[j] = upwards ? max(a, b) : min(a, b);
            }
        }
    }
}
