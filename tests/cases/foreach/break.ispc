// break: a lane that has left the loop does nothing more in it. Here every later index would leave as well.
//~ same-bits-at-every-width
//~ run: f() out[i] == (i < 23)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        if (i >= 23) break;
        out[i] = 1;
    }
}
