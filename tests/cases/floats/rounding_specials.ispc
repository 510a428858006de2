// Infinities and NaN are rounded to themselves; a small negative number is rounded to −0.
//~ run: f(a=[inf, -inf, nan, -0.25]) fl[0] == inf; fl[1] == -inf; fl[2] == nan; fl[3] == -1.0; ce[3] == -0.0
export void f(uniform float a[], uniform float fl[], uniform float ce[]) {
    foreach (i = 0 ... 4) {
        fl[i] = floor(a[i]);
        ce[i] = ceil(a[i]);
    }
}
