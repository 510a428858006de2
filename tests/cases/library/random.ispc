// Random numbers: the same at every run, within range, and not constant.
//~ run: f() out[0] == 1; out[1] == 1
export void f(uniform int out[]) {
    RNGState state;
    seed_rng(&state, 17 + programIndex);
    float first = frandom(&state);
    float second = frandom(&state);
    out[0] = all(first >= 0 && first < 1 && second >= 0 && second < 1) ? 1 : 0;
    out[1] = all(first != second) ? 1 : 0;
}
