// Outer lanes have their turns in ascending order.
//~ same-bits-at-every-width
//~ run: f(h=zeros:1) out[i] == (i < 8 ? i + 1 : 0); h[0] == 8
export void f(uniform int h[], uniform int out[]) {
    foreach (i = 0 ... 8) {
        foreach (j = 0 ... 1) {
            h[0] += 1;
            out[i] = h[0];
        }
    }
}
