// Inactive lanes in double parentheses, with the value they hold.
//~ run: f()
//~   print: x = {[lane | lane % 2 == 0]}
export void f() {
    int x = programIndex;
    if (programIndex % 2 == 0) print("x = %\n", x);
}
