// Bits shifted out are lost.
//~ run: f(a=rand:18) out[i] == i32(a[i] << i % 32)
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = a[i] << i % 32;
}
