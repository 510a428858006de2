// A uniform loop under a varying condition counts for its lanes alone.
export void f(uniform int out[], uniform int n) {
    int x = 0;
    if (programIndex % 2 == 0)
        for (uniform int i = 0; i < n; ++i) x += i + programIndex;
    out[programIndex] = x;
}
// call: f(out=zeros:i32:16, n=7)
