// The same for double, with numbers no float can hold.
//~ run: f(a=fill((i - 32) * 0.5 + 1e9)) fl[i] == floor(a[i]); ce[i] == ceil(a[i]); ro[i] == round(a[i])
export void f(uniform double a[], uniform double fl[], uniform double ce[], uniform double ro[]) {
    foreach (i = 0 ... 64) {
        fl[i] = floor(a[i]);
        ce[i] = ceil(a[i]);
        ro[i] = round(a[i]);
    }
}
