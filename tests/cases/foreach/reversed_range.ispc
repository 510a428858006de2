// An end below the start is an empty range.
//~ run: f(a=10, b=3) out[i] == 0
//~ run: f(a=5, b=-2147483648) out[i] == 0
export void f(uniform int a, uniform int b, uniform int out[]) {
    foreach (i = a ... b) out[0] += 1;
}
