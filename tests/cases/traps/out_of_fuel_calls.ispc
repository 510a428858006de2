// Calls use fuel as well.
//~ fuel: 100
//~ run: f()
//~   trap: out_of_fuel
static noinline uniform int one() { return 1; }
export uniform int f() {
    uniform int n = 0;
    for (uniform int k = 0; k < 60; ++k) n += one();
    return n;
}
