// Nothing is printed under an empty mask.
//~ run: f()
//~   print: after
export void f() {
    if (programIndex < 0) print("never %\n", programIndex);
    print("after\n");
}
