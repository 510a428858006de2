// memcpy, memmove and memset on uniform memory.
export void f(uniform int out[]) {
    uniform int a[8];
    for (uniform int i = 0; i < 8; ++i) a[i] = i + 1;
    memmove(a + 1, a, 5 * sizeof(uniform int));
    memcpy(out, a, 8 * sizeof(uniform int));
    memset(out + 8, 1, 2 * sizeof(uniform int));
}
// call: f(out=zeros:i32:12)
