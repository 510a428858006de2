// Counts in 256 bins that all lanes share, so additions are atomic.
export void histogram(uniform int n, const uniform uint8 data[], uniform int counts[]) {
    foreach (i = 0 ... n) {
        int bin = data[i];
        atomic_add_global(&counts[bin], 1);
    }
}
