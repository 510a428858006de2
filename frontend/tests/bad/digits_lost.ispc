#define TAU 6.283185307179586
float f(float x) {
    float a = x * 3.14159265358979 + 16777217.0 - 1e39;
#pragma ignore warning(W0009)
    a += 2.718281828459045;
#pragma ignore warning(nothing)
    return a + 3.1415927 + 3.14159265358979f + 3.14159265358979d + 16777216.0 + 1e30 + 0.1 + TAU;
}
