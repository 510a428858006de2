// A uniform operand is spread over the lanes.
//~ run: f(k=1000) out[i] == i < W ? 1000 - i : 0
export void f(uniform int k, uniform int out[]) {
    out[programIndex] = k - programIndex;
}
