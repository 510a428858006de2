// Votes over the active lanes.
//~ run: f() out[0] == 1; out[1] == (W == 1); out[2] == 0; out[3] == 0; out[4] == 1; out[5] == 1
export void f(uniform int out[]) {
    int v = programIndex;
    out[0] = any(v == 0) ? 1 : 0;
    out[1] = all(v == 0) ? 1 : 0;
    out[2] = none(v == 0) ? 1 : 0;
    out[3] = any(v < 0) ? 1 : 0;
    out[4] = all(v >= 0) ? 1 : 0;
    out[5] = none(v < 0) ? 1 : 0;
}
