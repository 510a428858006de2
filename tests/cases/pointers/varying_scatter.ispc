// And writes to it.
//~ run: f(a=iota) a[i] == i + 1000
export void f(uniform int a[]) {
    foreach (i = 0 ... 64) {
        uniform int * varying p = a + i;
        *p += 1000;
    }
}
