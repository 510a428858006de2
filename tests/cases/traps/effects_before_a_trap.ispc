// Instructions before the failing one have had their effect, those after it none.
//~ run: f(a=zeros, b=zeros:1) a[i] == (i < W ? 1 : 0); b[0] == 0
//~   trap: out_of_bounds line=here
export void f(uniform int a[], uniform int b[]) {
    a[programIndex] = 1;
    b[7] = 1; //~ line: here
    a[programIndex] = 2;
}
