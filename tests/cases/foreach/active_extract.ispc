// The visited lane's value of a varying variable.
//~ run: f() result == sum(k, 0, W, k * k)
export uniform int f() {
    int v = programIndex * programIndex;
    uniform int total = 0;
    foreach_active (lane) total += extract(v, lane);
    return total;
}
