// continue in a while loop goes to the test.
//~ run: f() out[i] == (i % 10 + 1) / 2
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int k = 0, odd = 0;
        while (k < i % 10) {
            ++k;
            if (k % 2 == 0) continue;
            ++odd;
        }
        out[i] = odd;
    }
}
