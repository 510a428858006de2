// floor, ceil, trunc, and round with ties to even.
//~ run: f(a=fill((i - 32) * 0.5)) fl[i] == floor(a[i]); ce[i] == ceil(a[i]); tr[i] == trunc(a[i]); ro[i] == round(a[i])
export void f(uniform float a[], uniform float fl[], uniform float ce[], uniform float tr[], uniform float ro[]) {
    foreach (i = 0 ... 64) {
        fl[i] = floor(a[i]);
        ce[i] = ceil(a[i]);
        tr[i] = trunc(a[i]);
        ro[i] = round(a[i]);
    }
}
