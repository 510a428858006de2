// Exclusive scans skip lanes that are off.
export void f(uniform int out[], const uniform int in[]) {
    int x = in[programIndex], sum = -1;
    if (x % 2 == 1) sum = exclusive_scan_add(x);
    out[programIndex] = sum;
}
// call: f(out=zeros:i32:16, in=[1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 19])
