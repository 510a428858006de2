// Only lanes where the condition holds execute the branch.
//~ run: f() out[i] == (i % 3 == 0 ? 1 : 0)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        if (i % 3 == 0)
            out[i] = 1;
    }
}
