// Negation, complement and logical not.
//~ run: f(a=iota) neg[i] == -i; inv[i] == ~i; no[i] == (i == 0)
export void f(uniform int a[], uniform int neg[], uniform int inv[], uniform bool no[]) {
    foreach (i = 0 ... 64) {
        neg[i] = -a[i];
        inv[i] = ~a[i];
        no[i] = !a[i];
    }
}
