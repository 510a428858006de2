// `inline` changes nothing but speed.
//~ run: f() out[i] == i * i + 1
static inline int square(int x) { return x * x; }
inline int square_plus(int x) { return square(x) + 1; }
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = square_plus(i);
}
