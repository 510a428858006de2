// Results of all sizes come back from functions that call themselves twice, also through memory of their own, again and again.
//~ run: f() narrow[i] == (i < W ? 12 * 34 : 0); wide[i] == (i < W ? 12 * 34 * 1099511627776 : 0)
//~ also: odds[i] == 0; lanes[i] == (i < W ? 12 * (34 + 55 * i) : 0)
//~ also: sums[i] == (i < W ? 12 * (221 + 109 * i) : 0); odd_sums[i] == (i < W && i % 2 == 1 ? 12 : 0)
struct Pair {
    int64 sum;
    bool odd;
};

noinline uniform int8 eight(uniform int n) {
    if (n < 2) return (uniform int8)n;
    return eight(n - 1) + eight(n - 2);
}

noinline uniform int64 high(uniform int n) {
    if (n < 2) return (uniform int64)n << 40;
    return high(n - 1) + high(n - 2);
}

noinline uniform bool is_odd(uniform int n) {
    if (n < 2) return n == 1;
    return is_odd(n - 1) != is_odd(n - 2);
}

noinline int16 each(int n) {
    if (n < 2) return n + programIndex;
    return each(n - 1) + each(n - 2);
}

noinline Pair pair(uniform int n) {
    int own[4];
    own[n & 3] = programIndex + n;
    Pair result = { own[n & 3], (programIndex + n) % 2 == 1 };
    if (n >= 2) {
        Pair one = pair(n - 1), other = pair(n - 2);
        result.sum = one.sum + other.sum + own[n & 3];
        result.odd = one.odd != other.odd;
    }
    return result;
}

export void f(uniform int narrow[], uniform int64 wide[], uniform int odds[], uniform int lanes[], uniform int64 sums[],
              uniform int odd_sums[]) {
    for (uniform int i = 0; i < 12; ++i) {
        Pair result = pair(9);
        sums[programIndex] += result.sum;
        odd_sums[programIndex] += result.odd ? 1 : 0;
        narrow[programIndex] += eight(9);
        wide[programIndex] += high(9);
        odds[programIndex] += is_odd(9) ? 1 : 0;
        lanes[programIndex] += each(9);
    }
}
