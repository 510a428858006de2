// The same where indices begin anywhere, are negative, or the step changes between accesses and between rounds.
//~ run: from(first=-37, n=150, step=16, a=iota:600, out=zeros:150) out[i] == a[(i - 37) / 16 * 16 + (i - 37) % 16 + 200] + 5 * ((i - 37) / 16 + 100)
//~ run: from(first=-64, n=150, step=64, a=iota:600, out=zeros:150) out[i] == a[i - 64 + 200] + 5 * ((i - 64) / 64 + 100)
//~ run: from(first=-48, n=150, step=7, a=iota:600, out=zeros:150) out[i] == a[i - 48 + 200] + 5 * ((i - 48) / 7 + 100)
//~ run: from(first=3, n=150, step=64, a=iota:600, out=zeros:150) out[i] == a[i + 3 + 200] + 5 * ((i + 3) / 64 + 100)
//~ run: from(first=64, n=150, step=64, a=iota:600, out=zeros:150) out[i] == a[i + 64 + 200] + 5 * ((i + 64) / 64 + 100)
export void from(uniform int first, uniform int n, uniform int step, const uniform int a[], uniform int out[]) {
    foreach (i = first ... first + n) {
        int at = (i / step) * step + i % step;
        out[i - first] = a[at + 200] + 5 * a[i / step + 100];
    }
}

//~ run: wraps(first=2147483600, n=47, a=iota:64, out=zeros:47) out[i] == ((2147483600 + i) & 15) + 10 * ((2147483600 + i) % 16)
//~ run: wraps(first=-2147483648, n=47, a=iota:64, out=zeros:47) out[i] == (i & 15) + 10 * ((16 - (i & 15)) % 16)
export void wraps(uniform int first, uniform int n, const uniform int a[], uniform int out[]) {
    for (uniform int j = 0; j < n; j += programCount) {
        int i = first + j + programIndex;
        if (j + programIndex < n) {
            int r = i % 16;
            out[j + programIndex] = a[i & 15] + 10 * a[r < 0 ? -r : r];
        }
    }
}

//~ run: changes(n=128, a=iota:600, out=zeros:128) out[i] == (i ^ 64) + 10 * (i ^ 3)
export void changes(uniform int n, const uniform int a[], uniform int out[]) {
    foreach (i = 0 ... n) {
        uniform int step = 64 + (n - 128);
        int at = i ^ step;
        int x = a[at];
        step = 3 + (n - 128);
        out[i] = x + 10 * a[i ^ step];
    }
}

//~ run: walsh(n=256, x=fill(i == 5 ? 1 : 0):256) x[i] == (popcount(i & 5) % 2 == 0 ? 1 : -1)
export void walsh(uniform int n, uniform int x[]) {
    for (uniform int step = 1; step < n; step *= 2) {
        foreach (i = 0 ... n / 2) {
            int pair = 2 * step * (i / step) + i % step, match = pair + step;
            int a = x[pair], b = x[match];
            x[pair] = a + b;
            x[match] = a - b;
        }
    }
}

//~ run: sort(n=256, key=fill((i * 167 + 13) % 256):256) key[i] == i
export void sort(uniform int n, uniform int key[]) {
    for (uniform int span = 2; span <= n; span <<= 1) {
        for (uniform int step = span >> 1; step > 0; step >>= 1) {
            foreach (pair = 0 ... n / 2) {
                int low = ((pair & ~(step - 1)) << 1) | (pair & (step - 1));
                int high = low + step;
                int a = key[low], b = key[high];
                bool rising = (low & span) == 0;
                if ((a > b) == rising) {
                    key[low] = b;
                    key[high] = a;
                }
            }
        }
    }
}

//~ run: under_mask(n=200, step=64, a=iota:600, out=zeros:200) out[i] == (i % 3 != 0 ? 2 * 64 * (i / 64) + i % 64 : -1)
//~ run: under_mask(n=200, step=10, a=iota:600, out=zeros:200) out[i] == (i % 3 != 0 ? 2 * 10 * (i / 10) + i % 10 : -1)
export void under_mask(uniform int n, uniform int step, const uniform int a[], uniform int out[]) {
    foreach (i = 0 ... n) {
        int x = -1;
        if (i % 3 != 0) {
            int at = 2 * step * (i / step) + i % step;
            x = a[at];
        }
        out[i] = x;
    }
}
