// Masks come back in the right order.
//~ run: f() out[i] == (i >= W ? 0 : i == 0 ? 1 + 10 + 100 + 1000 : i % 2 == 0 ? 10 + 100 : 10)
export void f(uniform int out[]) {
    int n = 0;
    if (programIndex == 0) {
        unmasked {
            if (programIndex % 2 == 0) {
                unmasked { n += 10; }
                n += 100;
            }
        }
        n += 1;
        n += 1000;
    }
    out[programIndex] = n;
}
