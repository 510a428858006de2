// A compound assignment to an array element reads and writes that element.
//~ run: f(a=iota) a[i] == i * 4 - 1
export void f(uniform int a[]) {
    foreach (i = 0 ... 64) {
        a[i] *= 4;
        a[i] -= 1;
    }
}
