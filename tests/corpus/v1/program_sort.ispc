// A whole program: each lane sorts its own array.
export void f(uniform int out[], const uniform int in[]) {
    int a[6];
    for (uniform int i = 0; i < 6; ++i) a[i] = in[i * programCount + programIndex] & 255;
    for (uniform int i = 1; i < 6; ++i) {
        int x = a[i], j = i;
        while (j > 0) {
            if (a[j - 1] <= x) break;
            a[j] = a[j - 1];
            --j;
        }
        a[j] = x;
    }
    for (uniform int i = 0; i < 6; ++i) out[i * programCount + programIndex] = a[i];
}
// call: f(out=zeros:i32:96, in=random:i32:96:21)
