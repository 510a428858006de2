// Only the least integer divided by −1 saturates.
//~ run: f(a=-128, b=-1) result == 127
//~ run: f(a=-128, b=2) result == -64
export uniform int8 f(uniform int8 a, uniform int8 b) { return saturating_div(a, b); }
