// Constant expressions of every kind in initialisers.
//~ run: f() a[0] == 12; a[1] == 2.5; a[2] == -1; a[3] == 65; a[4] == 3
const uniform int n = 3;
uniform int twelve = n * 4;
uniform float half = 5 / 2.0;
uniform int minus = ~0;
uniform int mixed = (1 << 6) | (n > 2 ? 1 : 0);
const uniform int table[n] = { 1, 2, 3 };
export void f(uniform float a[]) {
    a[0] = twelve;
    a[1] = half;
    a[2] = minus;
    a[3] = mixed;
    a[4] = table[n - 1];
}
