// Lanes whose pointers lead to allocations of their own, in loops: read and written, with an index and without; to the
// end of each, and beyond it; into rows that are deleted meanwhile, or were never there. Sums from one pointer by
// distances that vary.
//~ run: rows(n=70) result == 0
//~ run: shorter(n=9) result == 0
//~ run: beyond(n=40, last=40)
//~   trap: out_of_bounds line=beyond
//~ run: before(n=40)
//~   trap: out_of_bounds line=before
//~ run: gone(n=40)
//~   trap: bad_pointer line=gone
//~ run: null(n=40)
//~   trap: null_pointer line=null
//~ run: sums(a=iota:1000, n=50, out=fill(0):1000) out[i] == (i < 51 ? i + 3 : 0); result == 0
//~ run: sums_beyond(a=iota:100, n=200)
//~   trap: out_of_bounds line=sums_beyond
//~ run: poisoned(a=iota:100, n=50)
//~   trap: out_of_bounds line=poisoned
static uniform int * make(uniform int n) {
    uniform int * uniform all[programCount];
    for (uniform int k = 0; k < programCount; ++k) {
        all[k] = uniform new uniform int[n + k];
        for (uniform int i = 0; i < n + k; ++i) all[k][i] = 1000 * k + i;
    }
    uniform int * row = all[programIndex];
    return row;
}

static void drop(uniform int * row) {
    foreach_active (k) delete row;
}

export uniform int rows(uniform int n) {
    uniform int * row = make(n);
    int wrong = 0;
    for (uniform int i = 0; i < n; ++i) if (row[i] != 1000 * programIndex + i) ++wrong;
    for (uniform int i = 0; i < n; ++i) row[i] += i;
    for (int i = 0; i < n + programIndex; ++i) {
        if (row[i] != 1000 * programIndex + (i < n ? 2 * i : i)) ++wrong;
        if (i % 3 == programIndex % 3) row[i] = 7;
    }
    uniform int * at = row + n + programIndex;
    for (int i = n + programIndex; i > 0; --i) {
        --at;
        int expected = (i - 1) % 3 == programIndex % 3 ? 7 : 1000 * programIndex + (i - 1 < n ? 2 * (i - 1) : i - 1);
        if (*at != expected) ++wrong;
    }
    uniform int8 * bytes = (uniform int8 *)row;
    for (uniform int i = 0; i < 4 * n; ++i) bytes[i] = i;
    for (uniform int i = 0; i < n; ++i) if ((row[i] & 0xff) != ((4 * i) & 0xff)) ++wrong;
    delete row;
    return reduce_add(wrong);
}

// Rows that some lanes have left already, in lanes that are not active any more.
export uniform int shorter(uniform int n) {
    uniform int * row = make(n);
    int wrong = 0;
    for (uniform int round = 0; round < 30; ++round) {
        int sum = 0;
        for (int i = 0; i < n + programIndex; ++i) sum += row[i] - 1000 * programIndex;
        int last = n + programIndex - 1;
        if (sum != last * (last + 1) / 2) ++wrong;
    }
    delete row;
    return reduce_add(wrong);
}

export uniform int beyond(uniform int n, uniform int last) {
    uniform int * row = make(n);
    int sum = 0;
    for (uniform int i = 0; i <= last; ++i)
        sum += row[i]; //~ line: beyond
    return reduce_add(sum);
}

export uniform int before(uniform int n) {
    uniform int * row = make(n);
    for (uniform int i = n - 1; i >= -1; --i)
        row[i] = i; //~ line: before
    return 0;
}

export uniform int gone(uniform int n) {
    uniform int * row = make(n);
    int sum = 0;
    for (uniform int i = 0; i < n; ++i) {
        sum += row[i]; //~ line: gone
        if (i == n - 3 && programIndex == programCount - 1) delete row;
    }
    return reduce_add(sum);
}

export uniform int null(uniform int n) {
    uniform int * row = make(n);
    int sum = 0;
    for (uniform int i = 0; i < n; ++i) {
        sum += row[i]; //~ line: null
        if (i == n - 3 && programIndex == programCount / 2) row = NULL;
    }
    return reduce_add(sum);
}

export uniform int sums(uniform int a[], uniform int n, uniform int out[]) {
    int wrong = 0;
    for (uniform int k = 0; k < n; ++k) {
        int x = (programIndex + k) % n;
        uniform int * from = a + x;
        uniform int * to = out + x;
        if (*from != x || from[1] != x + 1 || *(from + (k & 3)) != x + (k & 3)) ++wrong;
        int64 far = 4 * (int64)x;
        uniform int * same = (uniform int *)((uniform int8 *)a + far);
        if (*same != x) ++wrong;
        *to = x + 3;
        to[1] = x + 4;
        uniform int * back = same + n;
        if (back[-n] != x) ++wrong;
    }
    return reduce_add(wrong);
}

export uniform int sums_beyond(uniform int a[], uniform int n) {
    int sum = 0;
    for (uniform int k = 0; k < n; ++k) {
        uniform int * from = a + (k + (programIndex == 0 ? 1 : 0));
        sum += *from; //~ line: sums_beyond
    }
    return reduce_add(sum);
}

// A sum that leaves the range of offsets does not come back.
export uniform int poisoned(uniform int a[], uniform int n) {
    int sum = 0;
    for (uniform int k = 0; k < n; ++k) {
        uniform int8 * uniform bytes = (uniform int8 * uniform)a;
        uniform int8 * far = bytes + (k == n - 1 ? ((int64)1 << 39) - programIndex : (int64)programIndex);
        sum += *(far + (k == n - 1 ? -((int64)1 << 39) : (int64)0)); //~ line: poisoned
    }
    return reduce_add(sum);
}
