// `extract` for other types.
//~ run: f() a[0] == (W - 1) * 0.5; a[1] == (W - 1) * 0.25
export void f(uniform double a[]) {
    float x = programIndex * 0.5;
    double y = programIndex * 0.25d;
    a[0] = extract(x, programCount - 1);
    a[1] = extract(y, programCount - 1);
}
