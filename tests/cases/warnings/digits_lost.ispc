// A float does not keep so many digits. Few digits, f and d are quiet, as are constants that others defined.
export float f(float x) {
    float a = x * 3.14159265358979;       //~ warning: W0009
    a += 16777217.0;                      //~ warning: W0009
    a += 1e39;                            //~ warning: W0009
    a += 3.1415927 + 0.1 + 1e30 + 16777216.0 + 3.14159265358979f + (float)3.14159265358979d + PI;
#pragma ignore warning(W0009)
    a += 2.718281828459045;
    return a;
}
