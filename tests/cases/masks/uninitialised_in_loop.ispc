// A declaration in a loop starts at zero in every turn.
//~ run: f() result == 3
export uniform int f() {
    uniform int total = 0;
    for (uniform int k = 0; k < 3; ++k) {
        uniform int x;
        x += 1;
        total += x;
    }
    return total;
}
