// A varying index takes each lane's own element.
//~ run: f() out[i] == (i < W ? i * 100 + i % 5 : 0)
export void f(uniform int out[]) {
    int t[5];
    for (uniform int k = 0; k < 5; ++k) t[k] = programIndex * 100 + k;
    out[programIndex] = t[programIndex % 5];
}
