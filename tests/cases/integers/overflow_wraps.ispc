// Signed overflow wraps, in every direction.
//~ run: f(a=rand:11, b=rand:12) sum[i] == i32(a[i] + b[i]); diff[i] == i32(a[i] - b[i]); prod[i] == i32(a[i] * b[i])
export void f(uniform int a[], uniform int b[], uniform int sum[], uniform int diff[], uniform int prod[]) {
    foreach (i = 0 ... 64) {
        sum[i] = a[i] + b[i];
        diff[i] = a[i] - b[i];
        prod[i] = a[i] * b[i];
    }
}
