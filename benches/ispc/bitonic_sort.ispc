// Batcher's bitonic network on integers; n is a power of two.
export void bitonic_sort(uniform int n, uniform int key[]) {
    for (uniform int span = 2; span <= n; span <<= 1) {
        for (uniform int step = span >> 1; step > 0; step >>= 1) {
            foreach (pair = 0 ... n / 2) {
                int low = ((pair & ~(step - 1)) << 1) | (pair & (step - 1));
                int high = low + step;
                int a = key[low], b = key[high];
                bool rising = (low & span) == 0;
                if ((a > b) == rising) {
                    key[low] = b;
                    key[high] = a;
                }
            }
        }
    }
}
