// `unmasked` under an empty mask does not run either.
//~ run: f() out[i] == 0
export void f(uniform int out[]) {
    if (programIndex < 0) {
        unmasked { out[programIndex] = 1; }
    }
}
