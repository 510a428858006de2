// A chain of else-ifs.
//~ run: f() out[i] == (i < 10 ? 1 : i < 30 ? 2 : i == 40 ? 3 : 4)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        if (i < 10) out[i] = 1;
        else if (i < 30) out[i] = 2;
        else if (i == 40) out[i] = 3;
        else out[i] = 4;
    }
}
