// A quotient by a power of two is that of the division, for all numbers: small ones, infinite ones, none.
//~ run: f(x=fill(i < 8 ? 1.1754943e-38 * (i + 1) : i < 16 ? 1.4e-45 * (i - 7) : i < 24 ? 3.4e38 / (i - 15) : i == 24 ? inf : i == 25 ? -inf : i == 26 ? nan : i == 27 ? -0.0 : 0.37 * i - 9):48, by=[2.0, -0.5, 1.0, 4294967296.0, 1.7014118e38, 1.1754943e-38, 8388608.0]) result == 0
//~ run: doubles(x=fill(i < 8 ? 2.2250738585072014e-308 * (i + 1) : i < 16 ? 5e-324 * (i - 7) : i < 24 ? 1.7e308 / (i - 15) : i == 24 ? inf : i == 26 ? nan : 0.37 * i - 9):48, by=[2.0, -0.5, 8.98846567431158e307, 2.2250738585072014e-308]) result == 0
static uniform int differences = 0;
static void compare(float a, float b) {
    if (intbits(a) != intbits(b))
        differences += popcnt(lanemask());
}

static void compare(double a, double b) {
    if (intbits(a) != intbits(b))
        differences += popcnt(lanemask());
}

export uniform int f(const uniform float x[], const uniform float by[]) {
    foreach (i = 0 ... 48) {
        compare(x[i] / 2.0f, x[i] / by[0]);
        compare(x[i] / -0.5f, x[i] / by[1]);
        compare(x[i] / 1.0f, x[i] / by[2]);
        compare(x[i] / 4294967295.0f, x[i] / by[3]);
        compare(x[i] / 0x1p127f, x[i] / by[4]);
        compare(x[i] / 0x1p-126f, x[i] / by[5]);
        compare(x[i] / 8388608.0f, x[i] / by[6]);
    }
    return differences;
}

export uniform int doubles(const uniform double x[], const uniform double by[]) {
    foreach (i = 0 ... 48) {
        compare(x[i] / 2.0d, x[i] / by[0]);
        compare(x[i] / -0.5d, x[i] / by[1]);
        compare(x[i] / 0x1p1023d, x[i] / by[2]);
        compare(x[i] / 0x1p-1022d, x[i] / by[3]);
    }
    return differences;
}
