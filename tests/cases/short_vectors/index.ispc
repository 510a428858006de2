// Components by index, in a loop.
//~ run: f() result == 1 + 4 + 9 + 16
export uniform int f() {
    uniform int<4> a;
    for (uniform int k = 0; k < 4; ++k) a[k] = (k + 1) * (k + 1);
    uniform int sum = 0;
    for (uniform int k = 0; k < 4; ++k) sum += a[k];
    return sum;
}
