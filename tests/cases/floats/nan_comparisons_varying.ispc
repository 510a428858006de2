// The same, lane by lane; every third lane holds NaN.
//~ run: f(a=fill(i % 3 == 0 ? nan : i)) out[i] == (i % 3 == 0 ? 32 : 4 + 8 + 16)
export void f(uniform float a[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        float x = a[i];
        int bits = 0;
        if (x < 0.5) bits += 1;
        if (x <= 0.5) bits += 2;
        if (x > 0.5) bits += 4;
        if (x >= 0.5) bits += 8;
        if (x == x) bits += 16;
        if (x != x) bits += 32;
        out[i] = bits;
    }
}
