// The six comparisons, lane by lane.
//~ run: f(a=iota, b=fill(32)) out[i] == (i < 32) * 1 + (i <= 32) * 2 + (i > 32) * 4 + (i >= 32) * 8 + (i == 32) * 16 + (i != 32) * 32
export void f(uniform int a[], uniform int b[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        int bits = 0;
        if (a[i] < b[i]) bits += 1;
        if (a[i] <= b[i]) bits += 2;
        if (a[i] > b[i]) bits += 4;
        if (a[i] >= b[i]) bits += 8;
        if (a[i] == b[i]) bits += 16;
        if (a[i] != b[i]) bits += 32;
        out[i] = bits;
    }
}
