// Infinity minus infinity is NaN, anything finite divided by it is zero.
//~ run: f(x=inf) a[0] == inf; a[1] == nan; a[2] == 0.0; a[3] == nan
export void f(uniform float x, uniform float a[]) {
    a[0] = x + 1;
    a[1] = x - x;
    a[2] = 1 / x;
    a[3] = x * 0;
}
