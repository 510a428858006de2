// 8- and 16-bit arithmetic stays in its type and wraps there (unlike C).
//~ run: f(a=fill(i * 2), b=fill(100)) out[i] == i8(i * 2 + 100)
export void f(uniform int8 a[], uniform int8 b[], uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = a[i] + b[i];
}
