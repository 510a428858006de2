// Writing through null, in one lane.
//~ run: f(a=zeros) a[i] == (W == 1 && i == 0 ? 1 : 0)
//~   trap[W>1]: null_pointer lane=1 line=here
export void f(uniform int a[]) {
    uniform int * varying p = &a[programIndex];
    if (programIndex == 1) p = NULL;
    *p = 1; //~ line: here
}
