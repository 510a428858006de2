// Arguments are passed for all lanes, so a callee sees what inactive ones hold.
//~ run: f() out[i] == (i < W ? i * 7 : 0)
static void show(int v, uniform int out[]) {
    unmasked { out[programIndex] = v; }
}
export void f(uniform int out[]) {
    int x = programIndex * 7;
    if (programIndex == 0) show(x, out);
}
