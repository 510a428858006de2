// A trap in a task is a trap of the launch.
//~ run: f(a=zeros:3)
//~   trap: out_of_bounds
task void one(uniform int a[]) {
    if (taskIndex == 4) a[taskIndex] = 1;
}
export void f(uniform int a[]) {
    launch[5] one(a);
    sync;
}
