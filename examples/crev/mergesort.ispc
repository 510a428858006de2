// Mergesort. Two halves are sorted, each by all lanes; then all lanes merge them: a lane finds by bisection how many numbers of the
// other half come before its own.
//
// `a` holds `n` numbers; `room` has room for as many.

#include "small_sort.isph"

/// How many of a[from] to a[to - 1], which are in order, come before `x`: those smaller than it, or with `equal` those equal to it too.
static inline int rank(const uniform int a[], uniform int from, uniform int to, int x, uniform bool equal)
{
    int low = from, high = to;
    while (low < high) {
        int middle = (low + high) >> 1;
        int y = a[middle];
        if (y < x || (equal && y == x))
            low = middle + 1;
        else
            high = middle;
    }
    return low - from;
}

/// Merges the parts before and after `middle`.
static void merge(uniform int a[], uniform int room[], uniform int from, uniform int middle, uniform int to)
{
    foreach (i = from ... middle)
        room[i + rank(a, middle, to, a[i], false)] = a[i];
    foreach (i = middle ... to)
        room[i - middle + from + rank(a, from, middle, a[i], true)] = a[i];
    foreach (i = from ... to)
        a[i] = room[i];
}

static void sort(uniform int a[], uniform int room[], uniform int from, uniform int to)
{
    if (to - from <= programCount) {
        sort_gang(a, from, to);
        return;
    }
    uniform int middle = (from + to) / 2;
    foreach (half = 0 ... 2) {
        int begin = half == 0 ? from : middle;
        int end = half == 0 ? middle : to;
        crev sort(a, room, begin, end);
    }
    merge(a, room, from, middle, to);
}

/// The same with tasks.
task void sort_task(uniform int a[], uniform int room[], uniform int from, uniform int to)
{
    if (to - from <= programCount) {
        sort_gang(a, from, to);
        return;
    }
    uniform int middle = (from + to) / 2;
    foreach (half = 0 ... 2) {
        int begin = half == 0 ? from : middle;
        int end = half == 0 ? middle : to;
        foreach_active (lane)
            launch sort_task(a, room, extract(begin, lane), extract(end, lane));
    }
    sync;
    merge(a, room, from, middle, to);
}

/// One number at a time.
static void sort_one_by_one(uniform int a[], uniform int room[], uniform int from, uniform int to)
{
    if (to - from <= 1)
        return;
    uniform int middle = (from + to) / 2;
    sort_one_by_one(a, room, from, middle);
    sort_one_by_one(a, room, middle, to);
    uniform int left = from, right = middle;
    for (uniform int i = from; i < to; ++i) {
        if (left < middle && (right == to || a[left] <= a[right]))
            room[i] = a[left++];
        else
            room[i] = a[right++];
    }
    for (uniform int i = from; i < to; ++i)
        a[i] = room[i];
}

export void mergesort_seq(uniform int a[], uniform int n, uniform int room[])
{
    sort_one_by_one(a, room, 0, n);
}

export void mergesort_launch(uniform int a[], uniform int n, uniform int room[])
{
    launch sort_task(a, room, 0, n);
}

export void mergesort_crev(uniform int a[], uniform int n, uniform int room[])
{
    sort(a, room, 0, n);
}
