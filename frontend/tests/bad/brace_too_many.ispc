void f(int x) {
    x = 1;
    }
    x = 2;
    if (x) { }
    return x;
}
void g() { }
