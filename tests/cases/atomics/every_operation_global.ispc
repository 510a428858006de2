// Every operation on one place with varying values: each lane in turn, ascending, and each returns what the lanes below it left.
//~ run: f(x=[100, 100, 255, 1, 0, 50, 50, 7, 7]) x[0] == 100 + W * (W + 1) / 2; x[1] == 100 - W * (W + 1) / 2
//~ also: x[2] == 254; x[3] == max(W - 1, 1); x[4] == (W == 1 ? 1 : W == 2 ? 3 : 0)
//~ also: x[5] == 50 - W; x[6] == 50 + W; x[7] == W - 1; x[8] == 1000
//~ also: old[i] == (i < W ? 100 + i * (i + 1) / 2 : 0); swapped[i] == (i < W ? (i == 0 ? 7 : i - 1) : 0); seen[i] == (i < W ? (i == 0 ? 7 : 1000) : 0)
export void f(uniform int x[], uniform int old[], uniform int swapped[], uniform int seen[]) {
    int lane = programIndex;
    old[lane] = atomic_add_global(&x[0], lane + 1);
    atomic_subtract_global(&x[1], lane + 1);
    atomic_and_global(&x[2], 254);
    atomic_or_global(&x[3], lane);
    atomic_xor_global(&x[4], (lane + 1) & 3);
    atomic_min_global(&x[5], 50 - (lane + 1));
    atomic_max_global(&x[6], 50 + (lane + 1));
    swapped[lane] = atomic_swap_global(&x[7], lane);
    int expected = 7;
    seen[lane] = atomic_compare_exchange_global(&x[8], expected, 1000);
}
