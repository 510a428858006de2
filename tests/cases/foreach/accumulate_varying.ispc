// A varying variable of the outside collects over the turns, lane by lane.
//~ same-bits-at-every-width
//~ run: f() result == 2016
export uniform int f() {
    int sum = 0;
    foreach (i = 0 ... 64) sum += i;
    return reduce_add(sum);
}
