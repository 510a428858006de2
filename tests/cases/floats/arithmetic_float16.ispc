// float16 arithmetic rounds every operation to 11 bits.
//~ fp: strict
//~ run: f(a=fill(i * 3.7), b=fill(100.0 - i)) sum[i] == f16(a[i] + b[i]); prod[i] == f16(a[i] * b[i]); quot[i] == f16(a[i] / b[i])
export void f(uniform float16 a[], uniform float16 b[], uniform float16 sum[], uniform float16 prod[], uniform float16 quot[]) {
    foreach (i = 0 ... 64) {
        sum[i] = a[i] + b[i];
        prod[i] = a[i] * b[i];
        quot[i] = a[i] / b[i];
    }
}
