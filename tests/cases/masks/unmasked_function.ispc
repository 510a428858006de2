// A function qualified `unmasked` starts with all lanes on.
//~ run: f() out[i] == (i < W)
unmasked void everyone(uniform int out[]) { out[programIndex] = 1; }
export void f(uniform int out[]) {
    if (programIndex == 0) everyone(out);
}
