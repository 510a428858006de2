// The clock does not go back.
//~ run: f() result == 1
export uniform int f() {
    uniform uint64 before = clock();
    uniform uint64 after = clock();
    return after >= before ? 1 : 0;
}
