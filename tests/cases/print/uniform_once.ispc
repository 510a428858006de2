// A uniform value under a divergent mask is printed once.
//~ run: f()
//~   print: 42
export void f() {
    uniform int n = 42;
    if (programIndex == 0) print("%\n", n);
}
