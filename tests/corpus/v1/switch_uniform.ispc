// A switch over a uniform value in a loop.
export void f(uniform int out[], uniform int n) {
    for (uniform int k = 0; k < n; ++k) {
        int r;
        switch (k) {
        case 1: r = programIndex; break;
        case 2: r = -programIndex; break;
        case 4: r = 7; break;
        default: r = k * 100;
        }
        out[k * programCount + programIndex] = r;
    }
}
// call: f(out=zeros:i32:96, n=6)
