// A switch within a switch.
//~ run: f() out[i] == (i % 2 == 0 ? 10 + i % 3 : 20)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        switch (i % 2) {
        case 0:
            switch (i % 3) {
            case 1: n = 1; break;
            case 2: n = 2; break;
            }
            n += 10;
            break;
        case 1:
            n = 20;
        }
        out[i] = n;
    }
}
