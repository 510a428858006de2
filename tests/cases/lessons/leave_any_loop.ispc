// break, continue and return in every kind of loop, by a condition that differs between lanes.
//~ run: f(n=6) out[i] == (i >= 6 ? 0 : i >= W ? 0 : i % 3 == 0 ? 1000 : i % 3 == 1 ? 1011 : 1111); loop[i] == (i < 4 ? 5 : i == 4 ? 9 : 0)
int leave_loops(int x) {
    int n = 0;
    for (int i = 0; i < 10; ++i) {
        if (x == 0) return 1000;
        if (i == 3) break;
        if (i == x) continue;
        ++n;
    }
    while (true) {
        if (x == 1) break;
        n += 100;
        if (n > 0) break;
    }
    do {
        if (x == 2) continue;
    } while (false);
    foreach_unique (u in x) {
        if (u == 7) break;
        if (u == 8) return -1;
        n += 8;
    }
    foreach_active (lane) {
        if (lane > 1000) break;
        ++n;
    }
    return 1000 + n;
}
void leave_foreach(uniform int loop[]) {
    foreach (i = 0 ... 10) {
        if (i > 4) return;
        if (i == 4) { loop[i] = 9; continue; }
        loop[i] = 5;
    }
}
export void f(uniform int n, uniform int out[], uniform int loop[]) {
    if (programIndex < n)
        out[programIndex] = leave_loops(programIndex % 3);
    leave_foreach(loop);
}
