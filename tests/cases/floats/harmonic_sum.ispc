// A loop that adds floats in order gives the same bits everywhere.
//~ same-bits-at-every-width
//~ run: f() out[0] == 1.0; out[1] == 1.5; out[2] == f32(1.5 + f32(1.0 / 3.0))
export void f(uniform float out[]) {
    foreach (i = 0 ... 64) {
        float sum = 0;
        for (int k = 1; k <= i + 1; ++k)
            sum += 1.0 / k;
        out[i] = sum;
    }
}
