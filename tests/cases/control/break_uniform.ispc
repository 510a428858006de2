// A break under uniform control flow ends the loop for the gang.
//~ run: f(n=4) result == 4
export uniform int f(uniform int n) {
    uniform int k;
    for (k = 0; k < 100; ++k) {
        if (k == n) break;
    }
    return k;
}
