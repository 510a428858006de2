// Jumping over statements, out of a loop.
//~ run: f() result == 3
export uniform int f() {
    uniform int n = 0;
    while (true) {
        ++n;
        if (n == 3) goto out;
    }
    n = 100;
out:
    return n;
}
