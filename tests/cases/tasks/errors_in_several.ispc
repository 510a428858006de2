// Several tasks fail: the one with the lowest index is reported, once.
//~ run: f(a=zeros:8, n=100)
//~   trap: division_by_zero line=divide message=(task 37 of `one`)
//~   also: a[0] == 37
task void one(uniform int a[], uniform int zero) {
    if (taskIndex < 37) atomic_add_global(&a[0], 1);
    else if (taskIndex == 37) a[1] = 1 / zero; //~ line: divide
    else if (taskIndex % 2 == 0) assert(taskIndex < 0); //~ warning: W0216
    else a[100] = 1;
}
export void f(uniform int a[], uniform int n) { launch[n] one(a, 0); }
