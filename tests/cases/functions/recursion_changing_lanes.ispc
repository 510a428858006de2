// One call of a function by itself, again and again, in all lanes, in some, in one, and with other arguments.
//~ run: f() counts[i] == (i < W ? 80 * 63 : 0); totals[i] == (i < W ? 80 * 63 * i + 20 * 63 * ((i % 3 == 0) + (i == 2)) : 0)
noinline void visit(uniform int step, uniform int depth, int &count, int &total) {
    if (depth == 0)
        return;
    count += 1;
    total += programIndex + step;
    for (uniform int side = 0; side < 2; ++side)
        visit(step, depth - 1, count, total);
}

export void f(uniform int counts[], uniform int totals[]) {
    int count = 0, total = 0;
    for (uniform int round = 0; round < 20; ++round) {
        visit(0, 6, count, total);
        if (programIndex % 3 == 0)
            visit(1, 6, count, total);
        else
            visit(0, 6, count, total);
        foreach_active (lane)
            visit(0, 6, count, total);
        if (programIndex == 2)
            visit(1, 6, count, total);
        else
            visit(0, 6, count, total);
    }
    counts[programIndex] = count;
    totals[programIndex] = total;
}
