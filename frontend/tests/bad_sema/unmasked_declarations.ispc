export void f(uniform int out[]) {
    unmasked {
        int first = 1;
        int second = 2;
    }
    out[programIndex] = first + second;
    __mask = true;
}
