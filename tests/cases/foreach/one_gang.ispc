// A row with constant bounds that no more than a gang covers means what any row does: its index, lanes that leave, and what follows.
//~ run: simple(a=iota, out=zeros:64) out[i] == (i < 3 ? i * 10 : 0)
export void simple(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 3) out[i] = a[i] * 10;
}

//~ run: from(out=zeros:64) out[i] == (i >= 5 && i < 9 ? i - 100 : 0)
export void from(uniform int out[]) {
    foreach (i = -95 ... -91) out[i + 100] = i;
}

//~ run: last(out=zeros:64) out[i] == (i < 2 ? 2147483645 + i : 0)
export void last(uniform int out[]) {
    foreach (i = 2147483645 ... 2147483647) out[i - 2147483645] = i;
}

// How many elements a `break` leaves out depends on the gang; those that it has ended stay what they are.
//~ run: leave(a=iota, out=zeros:64) out[i] == (i == 0 ? 1 : i == 9 ? 101 : 0)
export void leave(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 1) {
        if (a[i] > 0) break;
        out[i] = 1;
    }
    foreach (i = 0 ... 4) {
        if (a[i] >= 0) break;
        out[i] = 7;
    }
    out[9] = 101;
}

//~ run: skip(a=iota, out=zeros:64) out[i] == (i < 4 && i != 1 ? i + 1 : i == 9 ? 3 : 0)
export void skip(uniform int a[], uniform int out[]) {
    int n = 0;
    foreach (i = 0 ... 4) {
        if (a[i] == 1) continue;
        out[i] = i + 1;
        n += 1;
    }
    out[9] = reduce_add(n);
}

//~ run: rows(a=iota, out=zeros:64) out[i] == (i % 8 < 3 && i < 32 ? i + 1 : 0)
export void rows(uniform int a[], uniform int out[]) {
    foreach (y = 0 ... 4, x = 0 ... 3) out[y * 8 + x] = a[y * 8 + x] + 1;
}

//~ run: inner(a=iota, out=zeros:64) out[i] == (i < 3 ? a[i] * 4 + 6 : 0)
export void inner(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 3) {
        int sum = 0;
        for (uniform int k = 0; k < 4; ++k) sum += a[i] + k;
        out[i] = sum;
    }
}

// All lanes are on in the row, whatever the mask around.
//~ run: around(a=iota, out=zeros:64) out[i] == (i < 2 ? i + 5 : i == 9 ? 1 : 0)
export void around(uniform int a[], uniform int out[]) {
    if (programIndex == programCount - 1) {
        foreach (i = 0 ... 2) out[i] = a[i] + 5;
        out[9] = 1;
    }
}

// Local arrays that are shorter than the gang, written and read by rows.
//~ run: own(a=iota, n=40, out=zeros:64) out[i] == (i < 40 ? i * 6 + 9 : 0)
export void own(uniform int a[], uniform int n, uniform int out[]) {
    for (uniform int k = 0; k < n; ++k) {
        uniform int v[3], w[3];
        foreach (c = 0 ... 3) v[c] = 2 * a[k] + c;
        foreach (c = 0 ... 3) w[c] = v[c] + 2;
        uniform int sum = 0;
        for (uniform int c = 0; c < 3; ++c) sum += w[c];
        out[k] = sum;
    }
}

// No lane beyond the row may fail, those in it do.
//~ run: divided(a=[6, 3, 2, 0], out=zeros:64) out[i] == (i == 0 ? 1 : i == 1 ? 2 : i == 2 ? 3 : 0)
export void divided(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 3) out[i] = 6 / a[i];
}
