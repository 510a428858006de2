// Lanes take their turn in order: each gets the pointer that the one before has left.
//~ run: f(a=iota:64) out[i] == (i < W ? (i == 0 ? 63 : i - 1) : 0); result == W - 1
export uniform int f(uniform int a[], uniform int out[]) {
    uniform int *uniform slot = &a[63];
    uniform int *varying mine = &a[programIndex];
    uniform int *varying old = atomic_swap_global(&slot, mine);
    out[programIndex] = *old;
    void *uniform slots[programCount];
    for (uniform int k = 0; k < programCount; ++k) slots[k] = slot;
    void *varying before = atomic_swap_local(&slots[programIndex], (void *varying)mine);
    assert(before == slot && slots[programIndex] == mine);
    return *slot;
}
