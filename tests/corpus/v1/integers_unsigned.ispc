// Unsigned division, comparison and shift take the top bit for a digit.
export void f(uniform unsigned int out[], const uniform unsigned int in[], uniform int n) {
    foreach (i = 0 ... n) {
        unsigned int x = in[i];
        out[4 * i] = x / 3;
        out[4 * i + 1] = x % 10;
        out[4 * i + 2] = x >> 5;
        out[4 * i + 3] = x > 2147483648 ? 1 : 0;
    }
}
// call: f(out=zeros:u32:48, in=random:u32:12:9, n=12)
