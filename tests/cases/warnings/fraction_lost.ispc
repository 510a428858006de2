// A float with a 64-bit integer is computed as an integer. Whole constants lose nothing.
//~ run: f(n=3) result == 18
export uniform int f(uniform int64 n) {
    uniform float half = 0.5;
    uniform int64 product = n * half;     //~ warning: W0217
    if (half < n) product += 0;           //~ warning: W0217
    product += 2.0f * n + n * 4.0d;
    return product + 0 * (int)((uniform float)n * half);
}
