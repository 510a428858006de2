// Shifts of signed numbers keep the sign.
export void f(uniform int out[], const uniform int in[], uniform int n) {
    foreach (i = 0 ... n) {
        int by = i % 31;
        out[2 * i] = in[i] >> by;
        out[2 * i + 1] = (in[i] & 0xffff) << (by & 7);
    }
}
// call: f(out=zeros:i32:48, in=random:i32:24:1, n=24)
