// A while in a switch in a while, with breaks in all of them.
//~ same-bits-at-every-width
//~ run: f() out[0] == 0; out[1] == 11; out[2] == 22; out[3] == 33; out[4] == 40
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0, turn = 0;
        while (true) {
            if (turn == i % 5) break;
            ++turn;
            switch (i % 5) {
            case 4: break;
            default:
                while (true) {
                    n += 1;
                    if (n % 3 != 5) break;
                }
                n += 0;
            }
            n += 10;
        }
        out[i] = n;
    }
}
