// A function that fails with tasks on their way: theirs come first, as if they had run at their launch.
//~ run: f(a=zeros:4, bad=1)
//~   trap: out_of_bounds message=(task 9 of `one`)
//~ run: f(a=zeros:4, bad=0)
//~   trap: division_by_zero message=in `f`
//~   also: a[0] == 20
task void one(uniform int a[], uniform int bad) {
    atomic_add_global(&a[0], 1);
    if (bad != 0 && taskIndex == 9) a[10] = 1;
}
task void two(uniform int a[], uniform int bad) {
    if (bad != 0) assert(false);
}
export void f(uniform int a[], uniform int bad) {
    launch[20] one(a, bad);
    launch[20] two(a, bad);
    a[1] = 1 / a[2];
}
