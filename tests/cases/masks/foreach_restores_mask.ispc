// After the loop the mask is what it was before.
//~ run: f() out[i] == (i < W && i % 2 == 0)
export void f(uniform int out[]) {
    uniform int sink[100];
    if (programIndex % 2 == 0) {
        foreach (i = 0 ... 100) sink[i] = i;
        out[programIndex] = 1;
    }
}
