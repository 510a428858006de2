// Indices made by division, remainder and bits of a step: rows where the step is a multiple of the gang's width, else anywhere.
//~ run: pairs(n=256, step=64, a=iota:600, out=zeros:256) out[i] == a[2 * 64 * (i / 64) + i % 64] + 3 * a[2 * 64 * (i / 64) + i % 64 + 64]
//~ run: pairs(n=256, step=16, a=iota:600, out=zeros:256) out[i] == a[2 * 16 * (i / 16) + i % 16] + 3 * a[2 * 16 * (i / 16) + i % 16 + 16]
//~ run: pairs(n=256, step=4, a=iota:600, out=zeros:256) out[i] == a[2 * 4 * (i / 4) + i % 4] + 3 * a[2 * 4 * (i / 4) + i % 4 + 4]
//~ run: pairs(n=256, step=1, a=iota:600, out=zeros:256) out[i] == a[2 * i] + 3 * a[2 * i + 1]
//~ run: pairs(n=256, step=100, a=iota:600, out=zeros:256) out[i] == a[2 * 100 * (i / 100) + i % 100] + 3 * a[2 * 100 * (i / 100) + i % 100 + 100]
//~ run: pairs(n=249, step=-64, a=iota:600, out=zeros:256) out[i] == (i < 249 ? a[2 * 64 * (i / 64) + i % 64] + 3 * a[2 * 64 * (i / 64) + i % 64 + 64] : 0)
//~ run: pairs(n=256, step=0, a=iota:600, out=zeros:256)
//~ trap: division_by_zero lane=0
export void pairs(uniform int n, uniform int step, const uniform int a[], uniform int out[]) {
    foreach (i = 0 ... n) {
        int at = 2 * step * (i / step) + i % step;
        out[i] = a[at] + 3 * a[at + abs(step)];
    }
}

//~ run: masks(n=256, step=64, a=iota:600, out=zeros:256) out[i] == 1000 * ((i & 63) + (i - (i & 63)) * 2) + (i ^ 64) + 7 * (i | 64)
//~ run: masks(n=256, step=32, a=iota:600, out=zeros:256) out[i] == 1000 * ((i & 31) + (i - (i & 31)) * 2) + (i ^ 32) + 7 * (i | 32)
//~ run: masks(n=256, step=2, a=iota:600, out=zeros:256) out[i] == 1000 * ((i & 1) + (i - (i & 1)) * 2) + (i ^ 2) + 7 * (i | 2)
//~ run: masks(n=256, step=1, a=iota:600, out=zeros:256) out[i] == 1000 * (i * 2) + (i ^ 1) + 7 * (i | 1)
//~ run: masks(n=250, step=0, a=iota:600, out=zeros:256) out[i] == (i < 250 ? 1000 * i + i + 7 * i : 0)
export void masks(uniform int n, uniform int step, const uniform int a[], uniform int out[]) {
    foreach (i = 0 ... n) {
        int low = ((i & ~(step - 1)) << 1) | (i & (step - 1));
        out[i] = 1000 * a[low] + a[i ^ step] + 7 * a[i | step];
    }
}

//~ run: shifts(n=128, k=6, a=iota:600, out=zeros:128) out[i] == ((i >> 6) << 7) + (i & 63)
//~ run: shifts(n=128, k=4, a=iota:600, out=zeros:128) out[i] == ((i >> 4) << 5) + (i & 15)
//~ run: shifts(n=128, k=1, a=iota:600, out=zeros:128) out[i] == ((i >> 1) << 2) + (i & 1)
//~ run: shifts(n=128, k=0, a=iota:600, out=zeros:128) out[i] == i << 1
//~ run: shifts(n=128, k=38, a=iota:600, out=zeros:128) out[i] == ((i >> 6) << 7) + (i & 63)
export void shifts(uniform int n, uniform int k, const uniform int a[], uniform int out[]) {
    foreach (i = 0 ... n) out[i] = a[((i >> k) << (k + 1)) + (i & ((1 << k) - 1))];
}
