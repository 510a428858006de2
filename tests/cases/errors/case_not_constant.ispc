export void f(uniform int n) {
    switch (n) {
    case n: break; //~ error: E0214
    }
}
