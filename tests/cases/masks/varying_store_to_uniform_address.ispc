// A varying value stored to one address: again the highest active lane.
//~ run: f() out[0] == W - 1
export void f(uniform int out[]) {
    uniform int * varying p = &out[0];
    *p = programIndex;
}
