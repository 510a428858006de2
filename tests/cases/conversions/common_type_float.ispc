// int and float meet as float.
//~ run: f() out[i] == f32(i * 0.5) + i
export void f(uniform float out[]) {
    foreach (i = 0 ... 64) {
        float x = 0.5;
        out[i] = i * x + i;
    }
}
