// Arrays of short vectors.
//~ run: f() result == 140
export uniform int f() {
    uniform int<2> t[4];
    for (uniform int k = 0; k < 4; ++k) {
        t[k].x = k;
        t[k].y = k * 10;
    }
    uniform int sum = 0;
    for (uniform int k = 0; k < 4; ++k) sum += t[k].x * t[k].y;
    return sum;
}
