// Each lane goes to its own case.
//~ run: f() out[i] == (i % 4 == 0 ? 10 : i % 4 == 1 ? 20 : i % 4 == 2 ? 30 : 40)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        switch (i % 4) {
        case 0: out[i] = 10; break;
        case 1: out[i] = 20; break;
        case 2: out[i] = 30; break;
        case 3: out[i] = 40; break;
        }
    }
}
