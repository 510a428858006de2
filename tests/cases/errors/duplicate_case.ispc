export void f(uniform int n) {
    switch (n) {
    case 1: break;
    case 1: break; //~ error: E0219
    }
}
