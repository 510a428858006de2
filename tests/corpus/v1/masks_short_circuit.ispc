// The right side of && and || is evaluated where it decides alone: no division by zero.
export void f(uniform int out[], const uniform int a[], const uniform int b[], uniform int n) {
    foreach (i = 0 ... n) {
        bool both = b[i] != 0 && a[i] / b[i] > 2;
        bool either = b[i] == 0 || a[i] % b[i] == 0;
        out[i] = (both ? 1 : 0) + (either ? 2 : 0);
    }
}
// call: f(out=zeros:i32:12, a=[9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2], b=[3, 0, 2, 0, 1, 4, 0, 5, 1, 0, 0, 1], n=12)
