// Floats too.
//~ run: f()
//~   print: {[lane + 0.5 | lane == 0]}
export void f() {
    float x = programIndex + 0.5;
    if (programIndex == 0) print("%\n", x);
}
