// Lanes that break are gone; lanes that continue come back for the step.
export void f(uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        int sum = 0;
        for (int k = 0; k < 20; ++k) {
            if (k == i) break;
            if ((k + i) % 3 == 0) continue;
            sum += k;
        }
        out[i] = sum;
    }
}
// call: f(out=zeros:i32:24, n=24)
