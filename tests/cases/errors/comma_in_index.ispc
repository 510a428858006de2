// Dimensions have brackets of their own; the comma operator needs parentheses.
export void f(uniform float x[][4], uniform int i, uniform int j) {
    x[i, j] = 1;                          //~ error: E0117
    x[(i, j)][0] = x[0, 1];               //~ error: E0117
}
