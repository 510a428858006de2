// Lanes outside the branch do not divide: no trap, although their divisor is zero.
//~ run: f(d=fill(i % 2 == 0 ? 0 : i)) out[i] == (i % 2 == 0 ? -1 : 100 / i); rem[i] == (i % 2 == 0 ? -1 : 100 % i)
export void f(uniform int d[], uniform int out[], uniform int rem[]) {
    foreach (i = 0 ... 64) {
        int q = -1, r = -1;
        if (d[i] != 0) {
            q = 100 / d[i];
            r = 100 % d[i];
        }
        out[i] = q;
        rem[i] = r;
    }
}
