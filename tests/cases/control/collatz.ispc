// The number of steps of the Collatz sequence: long, very different loops.
//~ same-bits-at-every-width
//~ run: f() out[0] == 0; out[1] == 0; out[2] == 1; out[3] == 7; out[27] == 111; out[63] == 107
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = i, steps = 0;
        while (n > 1) {
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
            ++steps;
        }
        out[i] = steps;
    }
}
