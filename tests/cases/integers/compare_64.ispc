// 64-bit values that agree in their low halves.
//~ run: f() out[i] == (i > 20)
export void f(uniform bool out[]) {
    foreach (i = 0 ... 64) {
        int64 high = (int64)i << 32;
        out[i] = high > 20ll << 32;
    }
}
