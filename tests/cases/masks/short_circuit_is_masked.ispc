// The right operand of `&&` runs under the left one's mask: here it would divide by zero.
//~ run: f() out[i] == (i < W && i > 0 && 60 / i > 10)
export void f(uniform int out[]) {
    if (programIndex > 0 && 60 / programIndex > 10) out[programIndex] = 1;
}
