// A varying parameter takes the broadcast of the lane's argument, and may then differ from lane to lane.
//~ run: f() out[i] == (i < W && i % 2 == 1 ? sum(k, 0, W, i * 10 + k) : 0)
static uniform int total(varying int x) {
    x += programIndex;
    return reduce_add(x);
}
export void f(uniform int out[]) {
    int mine = programIndex * 10;
    if (programIndex % 2 == 1) out[programIndex] = crev total(mine);
}
