// Values of all kinds, more than there are registers, live across calls of a function by itself, and in loops around them.
//~ run: f() sums[i] == (i < W ? 30 : 0); floats[i] == (i < W ? 8 * i : 0); masks[i] == (i < W ? (i % 3 == 0 ? 15 : 0) : 0)
noinline uniform int walk(uniform int n, int &sum, float &others, int &taken) {
    bool third = programIndex % 3 == 0, even = programIndex % 2 == 0;
    float x = programIndex, y = x + 1, z = y + 1;
    int a = n, b = n * 2, c = n * 3, d = a + b - c;
    double wide = (double)x * n;
    int64 large = (int64)programIndex << 33;
    uniform int p = n + 1, q = n + 2, r = n + 3;
    uniform float u = n * 0.5;
    uniform int below = 0;
    for (uniform int k = 0; k < 2; ++k) {
        if (n > 0)
            below += walk(n - 1, sum, others, taken) + p - q + r - n - 2;
        sum += d + (even ? 2 * k : 2 * k);
        if (third)
            taken += k;
    }
    if (wide != (double)programIndex * n || large >> 33 != programIndex || u * 2 != n)
        sum += 1000;
    if (a + b + c == 6 * n && n == 0)
        others += x + (y - z) + 1;
    return below + 1;
}

export void f(uniform int sums[], uniform float floats[], uniform int masks[]) {
    int sum = 0, taken = 0;
    float others = 0;
    uniform int visited = walk(3, sum, others, taken);
    for (uniform int again = 0; again < 20; ++again) {
        int other_sum = 0, other_taken = 0;
        float other_floats = 0;
        visited = walk(3, other_sum, other_floats, other_taken);
        if (other_sum != sum || other_taken != taken || other_floats != others)
            sum = -1;
    }
    sums[programIndex] = sum;
    floats[programIndex] = others;
    masks[programIndex] = taken;
    if (visited < 0)
        sums[0] = -2;
}
