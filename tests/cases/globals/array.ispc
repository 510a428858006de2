// A global array with an initialiser.
//~ run: f() out[i] == (i % 4 + 1) * 11
const uniform int table[4] = { 11, 22, 33, 44 };
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = table[i % 4];
}
