// Bits are counted.
export void f(uniform int out[], const uniform int in[], uniform int n) {
    foreach (i = 0 ... n) {
        int x = in[i] | 1;
        out[i] = popcnt(x) * 10000 + count_leading_zeros(x) * 100 + count_trailing_zeros(x & -4 | 16);
    }
}
// call: f(out=zeros:i32:20, in=random:i32:20:5, n=20)
