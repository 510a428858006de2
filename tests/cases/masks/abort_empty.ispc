// Nor is the program aborted.
//~ run: f() result == 1
export uniform int f() {
    if (programIndex < 0) abort();
    return 1;
}
