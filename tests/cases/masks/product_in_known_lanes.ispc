// What is computed in lanes that are known when it is compiled, and kept in the others.
//~ run: f() out[i] == (i == 0 ? 3 : i < W ? i + 1 : 0)
void body(varying float &v) {
    foreach (row = 0 ... 1, column = 0 ... 1) {
        v *= 3;
        break;
    }
}
export void f(uniform float out[]) {
    float v = programIndex + 1;
    body(v);
    out[programIndex] = v;
}
