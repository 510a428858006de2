void f(int x) {
    if ((x > 1) {
        x = g(x, 2;
    }
    x = 3;
}
