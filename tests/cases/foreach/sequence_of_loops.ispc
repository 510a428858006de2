// One loop after another sees what the first wrote.
//~ run: f() b[i] == (63 - i) * 2
export void f(uniform int a[], uniform int b[]) {
    foreach (i = 0 ... 64) a[i] = i;
    foreach (i = 0 ... 64) b[i] = a[63 - i] * 2;
}
