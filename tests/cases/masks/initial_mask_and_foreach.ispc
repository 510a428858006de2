// foreach turns all lanes on even then.
//~ run: f() out[i] == 1
//~   mask: lane == 0
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = 1;
}
