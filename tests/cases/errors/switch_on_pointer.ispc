export void f(uniform float * uniform x) {
    switch (x) { //~ error: E0219
    case 1: break;
    }
}
