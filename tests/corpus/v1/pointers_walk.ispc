// Pointers of each lane move on by different steps.
export void f(uniform int out[], uniform int in[], uniform int n) {
    uniform int * varying p = in + programIndex;
    int sum = 0;
    for (uniform int i = 0; i < 3; ++i) {
        sum = sum * 10 + *p;
        p += (programIndex & 1) ? 2 : 1;
    }
    out[programIndex] = sum + (int)(p - in) * 100000;
}
// call: f(out=zeros:i32:16, in=iota:i32:24, n=24)
