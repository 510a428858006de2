// What a round has stored or loaded, the next one may take without loading it, unless something else is stored there.
//~ run: sums(a=ones, n=64) a[i] == i + 1
export void sums(uniform int a[], uniform int n) {
    for (uniform int i = 1; i < n; ++i)
        a[i] = a[i - 1] + a[i];
}

//~ run: backwards(a=iota, n=64) a[i] == (64 - i) * (63 + i) / 2
export void backwards(uniform int a[], uniform int n) {
    for (uniform int i = n - 2; i >= 0; --i)
        a[i] += a[i + 1];
}

//~ run: differences(a=iota, n=60) a[i] == (i < 60 ? 1 : i)
export void differences(uniform int a[], uniform int n) {
    for (uniform int i = 0; i < n; ++i)
        a[i] = a[i + 1] - a[i];
}

// The first store of a round lies where the next one loads, the second one over it.
//~ run: twice(a=ones, n=60) a[i] == (i > 60 ? 1 : i + 1)
export void twice(uniform int a[], uniform int n) {
    for (uniform int i = 1; i <= n; ++i) {
        uniform int before = a[i - 1];
        a[i] = before + 7;
        a[i] = before + 1;
    }
}

// The same memory by another name: what is stored by one is loaded by the other, a round later.
//~ run: names(a=iota, b=alias(a, 0):64, n=63) a[i] == (i == 0 ? 0 : 2 * i - 1)
//~ run: names(a=iota, b=alias(a, 1):63, n=62) a[i] == (i == 0 ? 0 : (64 - i) * (63 + i) / 2)
export void names(uniform int a[], const uniform int b[], uniform int n) {
    for (uniform int i = n; i >= 1; --i)
        a[i] = b[i] + b[i - 1];
}

// Bytes of which a store overwrites one, under the same name.
//~ run: bytes(a=iota, n=60) a[i] == (i < 61 ? 0 : 7)
export void bytes(uniform int8 a[], uniform int n) {
    for (uniform int i = 0; i < n; ++i) {
        uniform int * uniform word = (uniform int * uniform)(&a[i]);
        uniform int * uniform next = (uniform int * uniform)(&a[i + 1]);
        *next = *word << 8;
        a[i + 2] = 7;
    }
}

// Rows of a local array of vectors, one of which is a round old.
//~ run: rows(n=20) out[i] == (i < 20 ? i + 55 : 0)
export void rows(uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        int row[11];
        for (uniform int k = 0; k < 11; ++k)
            row[k] = k;
        row[0] = i;
        for (uniform int round = 0; round < 1 + n / 100; ++round)
            for (uniform int k = 1; k <= n / 2; ++k)
                row[k] += row[k - 1];
        out[i] = row[10];
    }
}
