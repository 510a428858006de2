export void f(uniform float x) {
    switch (x) { //~ error: E0219
    case 1: break;
    }
}
