// Values that every math library must give exactly.
//~ run: f() a[0] == 1.0; a[1] == 0.0; a[2] == 0.0; a[3] == 1.0; a[4] == 1.0; a[5] == 0.0; a[6] == 0.0; a[7] == 0.0
export void f(uniform float a[]) {
    uniform float zero = 0, one = 1;
    a[0] = exp(zero);
    a[1] = log(one);
    a[2] = sin(zero);
    a[3] = cos(zero);
    a[4] = pow(one, 17.5);
    a[5] = tan(zero);
    a[6] = atan(zero);
    a[7] = asin(zero);
}
