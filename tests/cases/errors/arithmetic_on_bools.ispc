export uniform int f(uniform bool b) {
    return 1 + b; //~ error: E0206
}
