// What constant tables hold is known to compiled code: numbers, bytes, bools, rows, zeros at the end, addresses and functions.
//~ run: f(a=fill(i + 1):20, n=20) result == 7910
//~ run: g(a=fill(i + 1):20, n=20) result == 920
static const uniform int weights[5] = { 10, 20, 30 };
static const uniform unsigned int8 bytes[3] = { 250, 251, 252 };
static const uniform bool flags[4] = { false, true, true, false };
static const uniform int64 wide[2][2] = { { 5, -7 }, { 9, 1ll << 40 } };
static uniform int cells[3] = { 100, 101, 102 };
static uniform int * const uniform places[2] = { &cells[2], &cells[0] };
static const varying int lanes[2] = { 3, 5 };

static int twice(int x) { return 2 * x; }
static int add_five(int x) { return x + 5; }

export uniform int f(uniform int a[], uniform int n) {
    int sum = 0;
    foreach (i = 0 ... n) {
        sum += a[i] + weights[2] + weights[4] + bytes[0];
        if (flags[1]) sum += 1;
        if (flags[3]) sum += 1000;
        sum += (int)wide[0][1] + (int)wide[1][0];
        sum += *places[0];
    }
    return reduce_add(sum);
}

export uniform int g(uniform int a[], uniform int n) {
    int (* const uniform table[2])(int) = { twice, add_five };
    int sum = 0;
    foreach (i = 0 ... n)
        for (uniform int k = 0; k < 2; ++k) sum += table[k](k == 0 ? a[i] : 0) + lanes[k] + 6;
    return reduce_add(sum);
}
