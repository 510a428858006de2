// The count is taken modulo the number of bits.
//~ run: f(a=rand:19) out[i] == i32(a[i] << i % 32)
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = a[i] << (i + 64);
}
