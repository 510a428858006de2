// goto under a uniform if.
//~ run: f(n=1) result == 11
//~ run: f(n=0) result == 10
export uniform int f(uniform int n) {
    uniform int r = 10;
    if (n == 0) goto end;
    r += 1;
end:
    return r;
}
