// Small numbers stay what they are in every thread, and sums come out the same.
//~ run: f(n=32) out[i] == (i < 32 ? pow2(0 - 140) * (i + 1) : 0)
task void one(uniform float out[], uniform float tiny) {
    uniform float sum = 0;
    for (uniform int k = 0; k <= taskIndex; ++k) sum += tiny * 0.5f;
    out[taskIndex] = sum;
}
export void f(uniform int n, uniform float out[]) { launch[n] one(out, 0x1p-139f); }
