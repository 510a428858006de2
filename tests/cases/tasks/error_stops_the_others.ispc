// A task that fails stops those behind it, even if they never end.
//~ run: f(a=zeros:4)
//~   trap: assertion message=(task 1 of `one`)
task void one(uniform int a[]) {
    if (taskIndex == 1) assert(false);
    while (taskIndex > 1) a[2] = 1;
}
export void f(uniform int a[]) { launch[12] one(a); }
