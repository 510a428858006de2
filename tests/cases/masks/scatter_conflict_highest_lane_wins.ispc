// When several lanes write one address, the highest active lane's value stays.
//~ run: f() out[0] == W - 1; out[1] == (W > 1 ? (W - 2) / 2 * 2 : 0)
export void f(uniform int out[]) {
    out[programIndex * 0] = programIndex;
    if (programIndex % 2 == 0) out[1 + programIndex * 0] = programIndex;
}
