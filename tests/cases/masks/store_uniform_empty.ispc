// A store to a uniform address under an empty mask does not happen.
//~ run: f(a=[5]) a[i] == 5
export void f(uniform int a[]) {
    if (programIndex < 0) a[0] = 9;
}
