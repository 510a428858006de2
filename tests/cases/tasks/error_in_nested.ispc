// A task of a task fails: its message tells of both.
//~ run: f(a=zeros:40)
//~   trap: out_of_bounds line=here message=(task 3 of `inner` <- task 5 of `outer`)
task void inner(uniform int a[], uniform int row) {
    if (row * 8 + taskIndex == 43) a[43] = 1; //~ line: here
}
task void outer(uniform int a[]) {
    launch[8] inner(a, taskIndex);
    sync;
    if (taskIndex == 6) assert(false);
}
export void f(uniform int a[]) {
    launch[4] inner(a, 0);
    launch[8] outer(a);
    sync;
    assert(false);
}
