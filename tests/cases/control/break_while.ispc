// break in a while loop; what follows it in the body is not executed by the lanes that left.
//~ run: f() out[i] == (i % 8) * 2
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0, k = 0;
        while (true) {
            if (k == i % 8) break;
            n += 2;
            ++k;
        }
        out[i] = n;
    }
}
