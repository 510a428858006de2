// `cif` means what `if` means.
//~ run: f() out[i] == (i < 32 ? 1 : i % 2 + 2)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        cif (i < 32) out[i] = 1;
        else {
            cif (i % 2 == 0) out[i] = 2;
            else out[i] = 3;
        }
    }
}
