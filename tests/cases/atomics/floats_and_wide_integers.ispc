// Sums of floats one lane after another, and 64-bit integers; uniform values act once, varying pointers on each lane's place.
//~ run: f(x=[0.5], y=[1], z=[5000000000], n=fill(i * 10)) x[0] == 0.5 + W * (W - 1) / 2 - 1; y[0] == 3; z[0] == 5000000000 + 3
//~ also: n[i] == (i < W ? i * 10 + i + 1 : i * 10)
export void f(uniform float x[], uniform double y[], uniform int64 z[], uniform int n[]) {
    atomic_add_global(&x[0], (float)programIndex);
    uniform float before = atomic_subtract_local(&x[0], 1.0f);
    uniform double old = atomic_max_global(&y[0], (uniform double)3);
    uniform int64 wide = atomic_add_local(&z[0], (uniform int64)3);
    atomic_add_global(&n[programIndex], programIndex + 1);
    assert(before >= 0.5f && old == 1 && wide == 5000000000);
}
