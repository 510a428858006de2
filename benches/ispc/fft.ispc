// A complex Fourier transform by Stockham's method, radix 2; result in `re`, `im` if log2(n) is even, else in the other two.
export void fft(uniform int n, const uniform float wr[], const uniform float wi[], uniform float re[], uniform float im[],
                uniform float other_re[], uniform float other_im[]) {
    uniform float * uniform ar = re;
    uniform float * uniform ai = im;
    uniform float * uniform br = other_re;
    uniform float * uniform bi = other_im;
    uniform int half = n / 2;
    for (uniform int stride = 1; stride < n; stride *= 2) {
        foreach (i = 0 ... half) {
            int k = i & (stride - 1);
            int group = i - k;
            float xr = ar[i], xi = ai[i], yr = ar[i + half], yi = ai[i + half];
            float dr = xr - yr, di = xi - yi;
            float cr = wr[group], ci = wi[group];
            int at = 2 * group + k;
            br[at] = xr + yr;
            bi[at] = xi + yi;
            br[at + stride] = dr * cr - di * ci;
            bi[at + stride] = dr * ci + di * cr;
        }
        uniform float * uniform swap = ar;
        ar = br;
        br = swap;
        swap = ai;
        ai = bi;
        bi = swap;
    }
}
