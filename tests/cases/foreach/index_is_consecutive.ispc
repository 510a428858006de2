// Within a turn the index is consecutive over the lanes.
//~ run: f() out[i] == i
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        out[i] = broadcast(i, 0) + programIndex;
    }
}
