// Each lane loops as often as it needs.
//~ run: f() out[i] == i * (i + 1) / 2
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int k = i, sum = 0;
        while (k > 0) {
            sum += k;
            --k;
        }
        out[i] = sum;
    }
}
