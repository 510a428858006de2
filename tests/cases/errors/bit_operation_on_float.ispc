export uniform float f(uniform float x) {
    return x & 1.0; //~ error: E0206
}
