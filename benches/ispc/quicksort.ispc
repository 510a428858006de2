// Quicksort: recursion over uniform ranges, each of which is divided by packed stores; short ones are sorted by ranks.
static void small_sort(uniform int key[], uniform int spare[], uniform int n) {
    foreach (i = 0 ... n) {
        int rank = 0;
        int own = key[i];
        for (uniform int j = 0; j < n; ++j) {
            uniform int other = key[j];
            if (other < own || (other == own && j < i))
                ++rank;
        }
        spare[rank] = own;
    }
    foreach (i = 0 ... n)
        key[i] = spare[i];
}

static void sort(uniform int key[], uniform int spare[], uniform int n) {
    if (n <= 32) {
        small_sort(key, spare, n);
        return;
    }
    uniform int a = key[0], b = key[n / 2], c = key[n - 1];
    uniform int pivot = max(min(a, b), min(max(a, b), c));
    uniform int less = 0, more = 0;
    foreach (i = 0 ... n) {
        int own = key[i];
        if (own < pivot)
            less += packed_store_active(&key[less], own);
        else if (own > pivot)
            more += packed_store_active(&spare[more], own);
    }
    uniform int same = n - less - more;
    foreach (i = 0 ... same)
        key[less + i] = pivot;
    foreach (i = 0 ... more)
        key[less + same + i] = spare[i];
    sort(key, spare, less);
    sort(key + less + same, spare, more);
}

export void quicksort(uniform int n, uniform int key[], uniform int spare[]) {
    sort(key, spare, n);
}
