// An array without `uniform` has a gang of values in each element; `varying` says that this is meant.
export void f(float a[], varying float b[], uniform float c[]) {   //~ warning: W0213
    a[0] = b[0] + c[0];
}
