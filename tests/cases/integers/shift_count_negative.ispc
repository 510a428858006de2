// A negative count is taken modulo the number of bits too.
//~ run: f(a=fill(i + 1)) out[i] == i32(i + 1 << 31)
export void f(uniform int a[], uniform int out[]) {
    uniform int count = -1;
    foreach (i = 0 ... 64) out[i] = a[i] << count;
}
