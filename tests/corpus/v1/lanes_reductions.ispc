// Reductions over the active lanes.
export void f(uniform int64 out[], const uniform int in[]) {
    int x = in[programIndex];
    if (x > 0) {
        out[0] = reduce_add(x);
        out[1] = reduce_min(x);
        out[2] = reduce_max(x);
        out[3] = reduce_equal(x) ? 1 : 0;
    }
    out[4] = reduce_min(x);
}
// call: f(out=zeros:i64:8, in=[5, -3, 8, 1, 7, -9, 2, 2, 4, 4, -1, 30, 6, 6, 6, 6])
