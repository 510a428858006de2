export void f(uniform int n) {
    while (n > 0) {
        n--;
    }
