// Under a divergent condition the tasks are launched once for the gang, and run with all lanes on.
//~ widths: 4, 8, 16
//~ run: f(out=zeros:8) out[0] == 1; out[1] == W; out[2] == 0; out[3] == 2; out[4] == 2 * W
task void one(uniform int *uniform runs, uniform int *uniform lanes) {
    atomic_add_global(runs, 1);
    atomic_add_global(lanes, popcnt(lanemask()));
}
export void f(uniform int out[]) {
    if (programIndex == 1) launch one(&out[0], &out[1]);
    if (programIndex < 0) launch one(&out[2], &out[2]);
    int k = programIndex % 3;
    while (k > 0) {
        launch one(&out[3], &out[4]);
        --k;
    }
}
