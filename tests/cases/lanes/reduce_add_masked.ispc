// Inactive lanes do not count.
//~ run: f() result == sum(k, 0, W, k % 3 == 0 ? k : 0)
export uniform int f() {
    uniform int r = -1;
    if (programIndex % 3 == 0) r = reduce_add(programIndex);
    return r;
}
