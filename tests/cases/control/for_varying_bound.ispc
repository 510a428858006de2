// A bound that differs from lane to lane.
//~ run: f() out[i] == i % 7 * 10
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int sum = 0;
        for (int k = 0; k < i % 7; ++k) sum += 10;
        out[i] = sum;
    }
}
