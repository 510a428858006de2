// Packed stores close the gaps; packed loads open them again.
export void f(uniform int out[], uniform int in[], uniform int counts[]) {
    int x = in[programIndex], back = -1;
    if (x > 3) {
        counts[0] = packed_store_active(out, x);
        counts[1] = packed_load_active(in, &back);
    }
    out[programIndex + programCount] = back;
}
// call: f(out=zeros:i32:32, in=[1, 5, 2, 6, 3, 7, 4, 8, 0, 9, 9, 1, 1, 5, 2, 10], counts=zeros:i32:2)
