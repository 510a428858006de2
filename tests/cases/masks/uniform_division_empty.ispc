// A uniform division under an empty mask does not trap.
//~ run: f(d=0) result == 4
export uniform int f(uniform int d) {
    uniform int n = 4;
    if (programIndex < 0) n = 1 / d;
    return n;
}
