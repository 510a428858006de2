// Powers with small whole results are what they should be to one unit.
//~ run: f() out[i] == 1
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        float x = i % 8 + 1, y = i / 8;
        float exact = 1;
        for (int k = 0; k < i / 8; ++k) exact *= x;
        float error = abs(pow(x, y) - exact) / exact;
        out[i] = error <= 1.2e-7 ? 1 : 0;
    }
}
