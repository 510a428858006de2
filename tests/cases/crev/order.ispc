// The calls are made one after the other, in the order of the lanes.
//~ run: f() order[i] == (i < (W + 1) / 2 ? i * 2 : 0); count[0] == (W + 1) / 2
static void note(uniform int order[], uniform int count[], uniform int lane) {
    order[count[0]] = lane;
    ++count[0];
}
export void f(uniform int order[], uniform int count[]) {
    if (programIndex % 2 == 0) crev note(order, count, programIndex);
}
