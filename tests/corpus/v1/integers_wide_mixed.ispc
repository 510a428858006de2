// 32 and 64 bits meet in one expression; the wider type wins.
export void f(uniform int64 out[], const uniform int a[], const uniform int64 b[], uniform int n) {
    foreach (i = 0 ... n) {
        int64 x = a[i];
        out[i] = x * 100000 + b[i] / 7 - a[i];
    }
}
// call: f(out=zeros:i64:20, a=random:i32:20:6, b=random:i64:20:8, n=20)
