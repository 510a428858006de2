// Every third element.
//~ run: f(a=fill(i * 10):190) out[i] == i * 30
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = a[i * 3];
}
