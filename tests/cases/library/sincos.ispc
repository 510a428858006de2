// Both at once, the same as one by one.
//~ run: f(a=rand:68) out[i] == 0
export void f(uniform float a[], uniform int out[]) {
    foreach (i = 0 ... 64) {
        float s, c;
        sincos(a[i], &s, &c);
        if (s != sin(a[i]) || c != cos(a[i])) out[i] = 1;
    }
}
