// The calls before the one that traps have had their effects.
//~ widths: 4,8,16,32,64
static void add(uniform int out[], uniform int x) {
    assert(x < 3);
    out[x] = x + 1;
}
export void f(uniform int out[]) { crev add(out, programIndex); }
//~ run: f() out[i] == (i < 3 ? i + 1 : 0)
//~ trap: assertion message=lane 3 of crev add
