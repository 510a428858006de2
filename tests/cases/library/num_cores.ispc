// There is at least one core, and the clock does not go back.
//~ run: f() result == 1
export uniform int f() {
    uniform uint64 before = clock();
    uniform uint64 after = clock();
    return num_cores() >= 1 && after >= before ? 1 : 0;
}
