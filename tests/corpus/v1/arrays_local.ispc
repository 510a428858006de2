// Arrays of each lane, indexed by the same and by different numbers.
export void f(uniform int out[]) {
    int a[8];
    for (uniform int i = 0; i < 8; ++i) a[i] = i * 10 + programIndex;
    int at = programIndex % 8;
    if (programIndex > 1) a[at] += 1000;
    out[programIndex] = a[at] + a[7 - at] * 2 + a[3];
}
// call: f(out=zeros:i32:16)
