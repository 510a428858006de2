// Random numbers of the "hardware": always there, a sequence for each variable and lane, the same in every run.
//~ run: f(a=fill(7):64) result == 63; a[0] == 1496452567; a[63] == 7
export uniform int f(uniform uint a[]) {
    uniform int passed = 0;
    uniform int32 one = 7, again = 7;
    while (!rdrand(&one)) {}
    rdrand(&again);
    if (one == again) passed |= 1;
    rdrand(&again);
    if (one != again) passed |= 2;
    a[0] = one;
    int64 mine = 0;
    const bool good = rdrand(&mine);
    if (all(good)) passed |= 4;
    bool differ = true;
    for (uniform int lane = 0; lane < programCount; ++lane) {
        uniform int64 other = extract(mine, lane);
        if (lane != programIndex && other == mine) differ = false;
    }
    if (all(differ)) passed |= 8;
    if (programIndex % 2 == 0 && programIndex < 62) rdrand((uniform int32 *)&a[1 + programIndex]);
    if (programCount < 2 || a[2] == 7) passed |= 16;
    uniform float x = 0.5, sum = 0;
    for (uniform int i = 0; i < 100; ++i) {
        rdrand(&x);
        if (x < 0 || x >= 1) return -1;
        sum += x;
    }
    if (sum > 35 && sum < 65) passed |= 32;
    fastmath();
    return passed;
}
