// Pointers are exchanged: void * and pointers of a type, one for the gang or one per lane.
//~ run: f(a=iota:8) result == 1; out[0] == 3; out[1] == 5; out[2] == 6; out[3] == 0
export uniform int f(uniform int a[], uniform int out[]) {
    void *uniform raw = &a[2];
    void *uniform old = atomic_swap_global(&raw, (void *uniform)&a[3]);
    out[0] = *(uniform int *uniform)raw;
    uniform int *uniform typed = &a[4];
    uniform int *uniform before = atomic_compare_exchange_global(&typed, &a[4], &a[5]);
    out[1] = *typed;
    uniform int *uniform kept = atomic_compare_exchange_local(&typed, &a[4], &a[6]);
    out[2] = kept == &a[5] && typed == &a[5] ? 6 : -1;
    uniform int *uniform head = NULL;
    out[3] = atomic_compare_exchange_global(&head, NULL, &a[1]) == NULL ? 0 : -1;
    return old == &a[2] && before == &a[4] && head == &a[1] ? 1 : 0;
}
