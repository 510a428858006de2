// Short loops whose counters and bounds are known: up, down, by steps, nested, triangular, left early, with a counter that is changed
// within or wraps, with lanes that part, with a bound that a caller hands over, and one that traps in its last round.
//~ run: up(a=iota:64, n=50, out=zeros:256) out[i] == (i < 4 * W ? 50 * (i % W + i / W) : 0)
//~ run: down(a=iota:64, n=50) out[i] == (i < W ? 50 * 6 : 0)
//~ run: nested(n=50) result == 50 * (0 + 1 + 2 + 10 + 11 + 12)
//~ run: triangle(n=50) result == 50 * 10
//~ run: early(n=50) result == 75
//~ run: changed(n=50) result == 50 * 6
//~ run: wraps(n=50) result == 50 * 3
//~ run: parting(n=50) out[i] == (i < W ? 50 * min(i, 4) : 0)
//~ run: handed(n=50) result == 50 * 3 + 25 * 5
//~ run: none(n=50) result == 0
//~ run: traps(a=iota:5, n=50) out[0] == 0 + 1 + 2 + 3; out[1] == 49 * 5
//~   trap: out_of_bounds line=trap message=read of index 5 of `a`
export void up(const uniform int a[], uniform int n, uniform int out[]) {
    int sums[4];
    for (uniform int t = 0; t < 4; ++t)
        sums[t] = 0;
    for (uniform int j = 0; j < n; ++j)
        for (uniform int t = 0; t < 4; ++t)
            sums[t] += a[t] + programIndex;
    for (uniform int t = 0; t < 4; ++t)
        out[t * programCount + programIndex] = sums[t];
}

export void down(const uniform int a[], uniform int n, uniform int out[]) {
    for (uniform int j = 0; j < n; ++j)
        for (uniform uint t = 3; t > 0; --t)
            out[programIndex] += a[t];
}

export uniform int nested(uniform int n) {
    uniform int sum = 0;
    for (uniform int j = 0; j < n; ++j) {
        uniform int table[2][3];
        for (uniform int k = 0; k < 2; ++k)
            for (uniform int64 l = 0; l < 3; ++l)
                table[k][l] = k * 10 + (uniform int)l;
        for (uniform int k = 0; k < 2; ++k)
            for (uniform int64 l = 0; l <= 2; ++l)
                sum += table[k][l];
    }
    return sum;
}

export uniform int triangle(uniform int n) {
    uniform int sum = 0;
    for (uniform int j = 0; j < n; ++j)
        for (uniform int k = 0; k < 5; ++k)
            for (uniform int l = 0; l < k; ++l)
                ++sum;
    return sum;
}

export uniform int early(uniform int n) {
    uniform int sum = 0;
    for (uniform int j = 0; j < n; ++j)
        for (uniform int k = 0; k < 4; ++k) {
            if (k == 1 + (j & 1))
                break;
            if (k > 100)
                return -1;
            ++sum;
        }
    return sum;
}

export uniform int changed(uniform int n) {
    uniform int sum = 0;
    for (uniform int j = 0; j < n; ++j)
        for (uniform int k = 0; k < 7; ++k) {
            if (k == 2)
                ++k;
            ++sum;
        }
    return sum;
}

export uniform int wraps(uniform int n) {
    uniform int sum = 0;
    for (uniform int j = 0; j < n; ++j)
        for (uniform uint8 k = 253; k != 0; ++k)
            ++sum;
    return sum;
}

export void parting(uniform int n, uniform int out[]) {
    for (uniform int j = 0; j < n; ++j)
        for (uniform int k = 0; k < 4; ++k) {
            if (programIndex <= k)
                continue;
            out[programIndex] += 1;
        }
}

static uniform int count(uniform int bound) {
    uniform int sum = 0;
    for (uniform int k = 0; k < bound; ++k)
        ++sum;
    return sum;
}

export uniform int handed(uniform int n) {
    uniform int sum = 0;
    for (uniform int j = 0; j < n; ++j) {
        sum += count(3);
        if (j & 1)
            sum += count(5);
    }
    return sum;
}

export uniform int none(uniform int n) {
    uniform int sum = 0;
    for (uniform int j = 0; j < n; ++j)
        for (uniform int k = 4; k < 4; ++k)
            ++sum;
    return sum;
}

export void traps(const uniform int a[], uniform int n, uniform int out[]) {
    for (uniform int j = 0; j < n; ++j) {
        uniform const int last = j == n - 1 ? 1 : 0;
        for (uniform int k = 0; k < 5; ++k) {
            if (last)
                out[0] += a[k + (k == 4 ? last : 0)]; //~ line: trap
            else
                out[1] += 1;
        }
    }
}
