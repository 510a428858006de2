// Increments of a uniform variable happen once for the gang, not once per lane.
//~ run: f() result == 3
export uniform int f() {
    uniform int n = 0;
    n++;
    ++n;
    n++;
    return n;
}
