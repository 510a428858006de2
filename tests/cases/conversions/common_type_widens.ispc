// Mixed operands are converted to the more general type before the operation.
//~ run: f(a=fill(i * 2), b=fill(1000 + i)) out[i] == i * 2 + 1000 + i
export void f(uniform int8 a[], uniform int16 b[], uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = a[i] + b[i];
}
