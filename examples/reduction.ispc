// Sums and running sums: where lanes have to talk to each other.

/// The sum of `n` numbers.
export uniform float sum(uniform int n, const uniform float data[])
{
    // Each lane sums every programCount-th element; one reduction over the lanes at the end.
    float partial = 0;
    foreach (i = 0 ... n)
        partial += data[i];
    return reduce_add(partial);
}

/// The smallest and the largest of `n` numbers, into `result[0]` and `result[1]`.
export void extrema(uniform int n, const uniform float data[], uniform float result[])
{
    float low = data[0], high = data[0];
    foreach (i = 0 ... n) {
        low = min(low, data[i]);
        high = max(high, data[i]);
    }
    result[0] = reduce_min(low);
    result[1] = reduce_max(high);
}

/// Running sums: out[i] = data[0] + … + data[i].
export void prefix_sum(uniform int n, const uniform int data[], uniform int out[])
{
    uniform int before = 0;
    // Gang by gang, not foreach: each gang needs the total of those before it.
    for (uniform int start = 0; start < n; start += programCount) {
        int i = start + programIndex;
        int value = 0;
        if (i < n)
            value = data[i];
        // The lanes' running sums: log2(programCount) steps, each adding what lies 1, 2, 4 … lanes to the left.
        for (uniform int distance = 1; distance < programCount; distance *= 2) {
            int left = shift(value, -distance);
            if (programIndex >= distance)
                value += left;
        }
        if (i < n)
            out[i] = before + value;
        before += extract(value, programCount - 1);
    }
}
