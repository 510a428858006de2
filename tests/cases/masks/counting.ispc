// Counters of every size go up and down by one in the lanes that are still active, and wrap around.
//~ run: f() out[i] == (i < W ? 1 : 0)
export void f(uniform int out[]) {
    int rounds = programIndex * 7 % 13;
    int8 a = 125;
    unsigned int8 b = 3;
    int16 c = 32765;
    int d = -2, e = 5;
    int64 g = 9223372036854775806, h = -1;
    for (int k = 0; k < rounds; ++k) {
        ++a; --b; ++c; ++d; --e; ++g; --h;
    }
    bool same = a == (int8)(125 + rounds) && b == (unsigned int8)(3 - rounds) && c == (int16)(32765 + rounds)
        && d == rounds - 2 && e == 5 - rounds && g - rounds == 9223372036854775806 && h == -1 - (int64)rounds;
    out[programIndex] = same ? 1 : -1;
}
