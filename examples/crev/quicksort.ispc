// Quicksort. All lanes divide a part of the array among those smaller than a pivot, equal to it and larger; then the smaller and the
// larger ones are sorted, each by all lanes.
//
// `a` holds `n` numbers; `room` has room for as many.

#include "small_sort.isph"

/// The middle one of three numbers.
static inline uniform int median(uniform int a, uniform int b, uniform int c)
{
    return max(min(a, b), min(max(a, b), c));
}

/// Divides a[from] to a[to - 1]. Numbers equal to the pivot come to stand from `middle` to `end - 1`.
static inline void divide(uniform int a[], uniform int room[], uniform int from, uniform int to, uniform int &middle,
                          uniform int &end)
{
    uniform int pivot = median(a[from], a[(from + to) / 2], a[to - 1]);
    uniform int smaller = from, larger = from;
    // The smaller ones close up in place: they never get ahead of where the gang reads. The larger ones wait in `room`.
    foreach (i = from ... to) {
        int x = a[i];
        if (x < pivot)
            smaller += packed_store_active(&a[smaller], x);
        else if (x > pivot)
            larger += packed_store_active(&room[larger], x);
    }
    middle = smaller;
    end = to - (larger - from);
    foreach (i = middle ... end)
        a[i] = pivot;
    foreach (i = end ... to)
        a[i] = room[from + i - end];
}

static void sort(uniform int a[], uniform int room[], uniform int from, uniform int to)
{
    if (to - from <= programCount) {
        sort_gang(a, from, to);
        return;
    }
    uniform int middle, end;
    divide(a, room, from, to, middle, end);
    foreach (side = 0 ... 2) {
        int begin = side == 0 ? from : end;
        int stop = side == 0 ? middle : to;
        if (stop - begin > 1)
            crev sort(a, room, begin, stop);
    }
}

/// The same with tasks.
task void sort_task(uniform int a[], uniform int room[], uniform int from, uniform int to)
{
    if (to - from <= programCount) {
        sort_gang(a, from, to);
        return;
    }
    uniform int middle, end;
    divide(a, room, from, to, middle, end);
    foreach (side = 0 ... 2) {
        int begin = side == 0 ? from : end;
        int stop = side == 0 ? middle : to;
        if (stop - begin > 1) {
            foreach_active (lane)
                launch sort_task(a, room, extract(begin, lane), extract(stop, lane));
        }
    }
}

/// Hoare's quicksort, one number at a time.
static void sort_one_by_one(uniform int a[], uniform int from, uniform int to)
{
    if (to - from <= 1)
        return;
    uniform int pivot = a[from + (to - from - 1) / 2];
    uniform int low = from - 1, high = to;
    while (true) {
        do ++low; while (a[low] < pivot);
        do --high; while (a[high] > pivot);
        if (low >= high)
            break;
        uniform int x = a[low];
        a[low] = a[high];
        a[high] = x;
    }
    sort_one_by_one(a, from, high + 1);
    sort_one_by_one(a, high + 1, to);
}

export void quicksort_seq(uniform int a[], uniform int n, uniform int room[])
{
    sort_one_by_one(a, 0, n);
}

export void quicksort_launch(uniform int a[], uniform int n, uniform int room[])
{
    launch sort_task(a, room, 0, n);
}

export void quicksort_crev(uniform int a[], uniform int n, uniform int room[])
{
    sort(a, room, 0, n);
}
