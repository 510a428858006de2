// Lanes return from a loop at different turns, with different values.
int find(const uniform int in[], uniform int n, int what) {
    for (uniform int i = 0; i < n; ++i) {
        if (in[i] == what) return i;
        if (in[i] > what) return -i - 1;
    }
    return 1000;
}
export void f(uniform int out[], const uniform int in[], uniform int n) {
    out[programIndex] = find(in, n, programIndex * 3);
}
// call: f(out=zeros:i32:16, in=[0, 2, 3, 7, 9, 9, 12, 20, 21, 24], n=10)
