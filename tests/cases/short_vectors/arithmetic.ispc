// Operations are done component by component.
//~ run: f() out[i] == (i < W ? (i + 10) + (2 * i + 20) + (3 * i + 30) : 0)
export void f(uniform int out[]) {
    int<3> a = { programIndex, programIndex * 2, programIndex * 3 };
    int<3> b = { 10, 20, 30 };
    int<3> c = a + b;
    out[programIndex] = c.x + c.y + c.z;
}
