// A break under a varying condition inside a case.
//~ run: f() out[i] == (i % 2 == 0 ? (i % 4 == 0 ? 1 : 3) : 2)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        switch (i % 2) {
        case 0:
            n += 1;
            if (i % 4 == 0) break;
        case 1:
            n += 2;
        }
        out[i] = n;
    }
}
