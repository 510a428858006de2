// `min(a,b)` is `a < b ? a : b`: with a NaN it gives the second operand.
//~ run: f(x=nan, y=1.0) a[0] == 1.0; a[1] == nan; a[2] == 1.0; a[3] == nan
export void f(uniform float x, uniform float y, uniform float a[]) {
    a[0] = min(x, y);
    a[1] = min(y, x);
    a[2] = max(x, y);
    a[3] = max(y, x);
}
