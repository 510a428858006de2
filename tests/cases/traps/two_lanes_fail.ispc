// Of two failing lanes the lower one is named, whatever fails.
//~ run: f(a=zeros:1)
//~   trap[W>3]: out_of_bounds lane=1
//~   trap[W==2]: out_of_bounds lane=1
//~   trap[W==1]: abort
export void f(uniform int a[]) {
    int at = programIndex == 1 || programIndex == 3 ? 50 : 0;
    a[at] = 1;
    abort();
}
