// Each value once, with the lanes that have it.
export void f(uniform int out[], const uniform int in[]) {
    int x = in[programIndex];
    int lanes = 0;
    foreach_unique (value in x) {
        lanes = reduce_add(1 + 0 * programIndex) * 10 + value;
    }
    out[programIndex] = lanes;
}
// call: f(out=zeros:i32:16, in=[1, 2, 1, 3, 2, 1, 9, 9, 1, 2, 3, 4, 4, 4, 4, 9])
