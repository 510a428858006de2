// Lanes outside the branch do not load: the array has one element.
//~ run: f(a=[7]) out[i] == (i == 0 ? 7 : i < W ? -1 : 0)
export void f(uniform int a[], uniform int out[]) {
    int v = -1;
    if (programIndex == 0) v = a[programIndex];
    out[programIndex] = v;
}
