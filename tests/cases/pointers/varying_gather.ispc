// A varying pointer: each lane reads its own address.
//~ run: f(a=fill(i * i)) out[i] == (63 - i) * (63 - i)
export void f(uniform int a[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        uniform int * varying p = &a[63 - i];
        out[i] = *p;
    }
}
