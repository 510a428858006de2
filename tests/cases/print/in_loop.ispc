// Once per turn.
//~ run: f(n=3)
//~   print: 0
//~   print: 1
//~   print: 2
export void f(uniform int n) {
    for (uniform int k = 0; k < n; ++k) print("%\n", k);
}
