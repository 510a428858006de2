// Two references.
//~ run: f() a[i] == (i < W ? i * 2 : 0); b[i] == (i < W ? i : 0)
static void swap(int &x, int &y) {
    int t = x;
    x = y;
    y = t;
}
export void f(uniform int a[], uniform int b[]) {
    int x = programIndex, y = programIndex * 2;
    swap(x, y);
    a[programIndex] = x;
    b[programIndex] = y;
}
