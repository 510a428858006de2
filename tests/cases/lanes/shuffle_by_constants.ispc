// Lanes given one by one: constants all of them, but the last, or in a loop that goes round often.
//~ run: f(n=40) out[i] == (i < W ? 40 * ((i ^ 1) % W + (i % 2 == 0 ? i / 2 : 1000 + i / 2)) + (i == W - 1 ? 40 * 7 : 40 * (i % 3)) : 0)
export void f(uniform int n, uniform int out[]) {
    int a = programIndex, b = programIndex + 1000;
    int exchange, pairs, thirds;
    for (uniform int l = 0; l < programCount; ++l) {
        exchange = insert(exchange, l, l ^ 1);
        pairs = insert(pairs, l, l % 2 == 0 ? l / 2 : l / 2 + programCount);
        thirds = insert(thirds, l, l % 3);
    }
    int sum = 0;
    for (uniform int k = 0; k < n; ++k) {
        int last = insert(thirds, programCount - 1, n / 6 + 1);
        sum += shuffle(a, exchange) + shuffle(a, b, pairs) + last;
    }
    out[programIndex] = sum;
}
