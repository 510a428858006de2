// Integers wrap at their own width; small types are not promoted.
export void f(uniform int8 a[], uniform int16 b[], uniform int64 c[], uniform unsigned int8 d[], uniform int n) {
    foreach (i = 0 ... n) {
        a[i] = a[i] * a[i] + (int8)100;
        b[i] = b[i] * b[i] - (int16)30000;
        c[i] = c[i] * c[i] * c[i];
        d[i] = d[i] - (unsigned int8)20;
    }
}
// call: f(a=iota:i8:30, b=random:i16:30:3, c=random:i64:30:4, d=iota:u8:30, n=30)
