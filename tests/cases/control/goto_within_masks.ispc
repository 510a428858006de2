// A goto within a loop or block, out of loops that lanes do not leave one by one, and after lanes have returned.
//~ run: f(n=7) result == 7 + 2 + 30; back[i] == (i < W ? (i < 2 ? i : -1) : 0)
static int some_return(uniform int n) {
    if (programIndex > 1) return -1;
    for (uniform int i = 0; i < 3; ++i) {
        if (n > 5) goto out;
        n += 3;
    }
out:
    return programIndex;
}
static int return_in_the_loop(uniform int n) {
    for (uniform int i = 0; i < 3; ++i) {
        if (programIndex > 1) return -1;
        if (n > 5) goto out;
    }
out:
    return programIndex;
}
export uniform int f(uniform int n, uniform int back[]) {
    back[programIndex] = min(some_return(n), return_in_the_loop(n));
    uniform int k = 0;
    unmasked {
    again:
        if (++k < 2) goto again;
    }
    for (uniform int i = 0; i < 10; ++i) {
        if (programIndex > 1000) break;
        if (i == 3) goto next;
        k += 10;
    next: ;
        if (i == 3) break;
    }
    return n + k;
}
