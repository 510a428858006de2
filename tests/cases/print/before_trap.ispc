// What was printed before a trap stays printed.
//~ run: f(a=zeros:1)
//~   print: before
//~   trap: out_of_bounds
export void f(uniform int a[]) {
    print("before\n");
    a[5] = 1;
    print("after\n");
}
