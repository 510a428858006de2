// A constant without a suffix is a float, also where a double is computed. Exact ones, f and d are quiet.
export double f(double x, uniform double y[]) {
    double a = x * 0.1;                   //~ warning: W0214
    double b = 0.3;                       //~ warning: W0214
    y[0] = -0.7;                          //~ warning: W0214
    a += x * 0.5 + x * 0.1d + x * 0.1f + 100.25 * x;
#pragma ignore warning(W0214)
    b += x * 0.2;
    float c = 0.1 * (float)x;
    return a + b + c;
}
