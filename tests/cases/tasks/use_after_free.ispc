// What a task has freed is gone for the others.
//~ run: f()
//~   trap: bad_pointer line=here message=(task 1 of `read`)
task void drop(uniform int *uniform p) { delete[] p; }
task void read(uniform int *uniform p, uniform int out[]) {
    if (taskIndex == 1) out[0] = p[0]; //~ line: here
}
export void f(uniform int out[]) {
    uniform int *uniform p = uniform new uniform int[4];
    launch drop(p);
    sync;
    launch[3] read(p, out);
}
