// If one dimension is empty, nothing runs.
//~ run: f(h=0, w=9) out[i] == 0
//~ run: f(h=9, w=0) out[i] == 0
export void f(uniform int h, uniform int w, uniform int out[]) {
    foreach (y = 0 ... h, x = 0 ... w) out[0] += 1;
}
