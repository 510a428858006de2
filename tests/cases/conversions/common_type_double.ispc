// float and double meet as double.
//~ run: f(a=rand:8, b=rand:9) out[i] == a[i] + b[i]
export void f(uniform float a[], uniform double b[], uniform double out[]) {
    foreach (i = 0 ... 64) out[i] = a[i] + b[i];
}
