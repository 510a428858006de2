// Arguments are converted to the types of the parameters, overloads chosen by the lanes' values.
static uniform float twice(uniform float x) { return x * 2; }
static uniform int kind(uniform int x) { return 1; }
static uniform int kind(uniform float x) { return 2; }
static uniform int kind(varying double x) { return 3; }
//~ run: f() a[i] == (i < W ? i * 2 : 0); b[i] == (i < W ? 123 : 0)
export void f(uniform float a[], uniform int b[]) {
    int8 small = programIndex;
    a[programIndex] = crev twice(small);
    float x = programIndex;
    double d = x;
    b[programIndex] = crev kind(programIndex) * 100 + crev kind(x) * 10 + crev kind(d);
}
