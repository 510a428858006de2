// Each lane copies its own range.
//~ run: f(a=fill(i + 1):64) out[i] == (i < W ? i + 1 : 0)
export void f(uniform int a[], uniform int out[]) {
    uniform int * varying from = &a[programIndex];
    uniform int * varying to = &out[programIndex];
    memcpy(to, from, 4);
}
