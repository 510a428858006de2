// A cast to a type without `uniform` or `varying` keeps that of its operand.
//~ run: f(x=2.9) result == 2
export uniform int f(uniform float x) {
    uniform int y = (int)x;
    return y;
}
