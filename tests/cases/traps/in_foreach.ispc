// A trap in one turn of a foreach; the turns before it are done.
//~ widths: 4
//~ run: f(a=zeros:10) a[i] == (i < 8 ? 1 : 0)
//~   trap: out_of_bounds lane=2 line=here
export void f(uniform int a[]) {
    foreach (i = 0 ... 16)
        a[i] = 1; //~ line: here
}
