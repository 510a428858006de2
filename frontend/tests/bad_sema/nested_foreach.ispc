export void f(uniform float a[], uniform int n) {
    foreach (i = 0 ... n) {
        float sum = 0;
        foreach (j = 0 ... n) { sum += a[j]; }
        float best = 0;
        foreach (j = 0 ... n) { best = max(best, a[j]); return; }
        a[i] = sum;
    }
}
