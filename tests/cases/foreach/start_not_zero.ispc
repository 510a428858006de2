// A range that begins somewhere.
//~ run: f(a=7, b=41) out[i] == (i >= 7 && i < 41)
export void f(uniform int a, uniform int b, uniform int out[]) {
    foreach (i = a ... b) out[i] += 1;
}
