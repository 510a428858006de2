// Cross-lane operations on other types.
//~ run: f() a[i] == (i < W ? (i + 1) % W : 0); b[i] == (i < W ? (W - 1) * 0.5 : 0.0); c[i] == (i < W ? (W - 1 - i) * 0.25 : 0.0); d[i] == (i < W && (i + 1) % W % 2 == 0)
export void f(uniform int8 a[], uniform double b[], uniform float16 c[], uniform bool d[]) {
    int8 small = programIndex;
    a[programIndex] = rotate(small, 1);
    double x = programIndex * 0.5d;
    b[programIndex] = broadcast(x, programCount - 1);
    float16 h = programIndex * 0.25;
    c[programIndex] = shuffle(h, programCount - 1 - programIndex);
    bool even = programIndex % 2 == 0;
    d[programIndex] = rotate(even, 1);
}
