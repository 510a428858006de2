// Uniform arguments are the same in every call, varying ones are taken from each active lane in turn.
//~ run: f(k=7) out[i] == (i < W && i != 1 ? i * 100 + 7 + W : 0)
static uniform int mix(uniform int x, uniform int k, varying int z) { return x * 100 + k + reduce_add(z); }
export void f(uniform int k, uniform int out[]) {
    int x = programIndex;
    if (programIndex != 1) out[programIndex] = crev mix(x, k, 1);
}
