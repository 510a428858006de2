// Exclusive prefix sums, a gang at a time: what the gangs before add up to is carried along.
export void prefix_sum(uniform int n, const uniform int x[], uniform int sums[]) {
    uniform int carried = 0;
    for (uniform int first = 0; first < n; first += programCount) {
        int i = first + programIndex;
        int value = 0;
        if (i < n)
            value = x[i];
        int before = exclusive_scan_add(value);
        if (i < n)
            sums[i] = carried + before;
        carried += (uniform int)reduce_add(value);
    }
}
