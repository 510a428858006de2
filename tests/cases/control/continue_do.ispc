// continue in a do loop goes to the test as well.
//~ run: f() out[i] == (i % 10 + 1) * 10 + ((i % 10 + 1 + 1) / 2)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int k = 0, odd = 0;
        do {
            ++k;
            if (k % 2 == 0) continue;
            ++odd;
        } while (k <= i % 10);
        out[i] = k * 10 + odd;
    }
}
