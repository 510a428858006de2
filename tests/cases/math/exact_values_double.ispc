// The same in double.
//~ run: f() a[0] == 1.0; a[1] == 0.0; a[2] == 0.0; a[3] == 1.0; a[4] == 1.0; a[5] == 0.0
export void f(uniform double a[]) {
    uniform double zero = 0, one = 1;
    a[0] = exp(zero);
    a[1] = log(one);
    a[2] = sin(zero);
    a[3] = cos(zero);
    a[4] = pow(one, 17.5d);
    a[5] = atan2(zero, one);
}
