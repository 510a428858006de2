// Prints of the gang and of each lane; lanes that are off are in double brackets.
export void f(uniform int n) {
    print("n is %\n", n);
    int x = programIndex * n;
    if (programIndex != 1) print("x: % and %\n", x, programIndex > 1);
}
// call: f(n=3)
