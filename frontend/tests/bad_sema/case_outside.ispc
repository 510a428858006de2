export void f(int x) {
    case 3: x = 1;
    switch (x) { case 1: break; case 1: break; default: break; default: x = 3; }
    uniform float * uniform p;
    switch (p) { case 0: break; }
    int y;
    switch (x) { case y: break; }
}
