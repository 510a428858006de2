// Tasks that launch tasks that launch tasks, each waiting for its own.
//~ run: f() out[i] == (i < 60 ? i * i : 0); total[0] == 60
uniform int done;
task void leaf(uniform int out[], uniform int at) {
    const uniform int i = at + taskIndex;
    out[i] = i * i;
    atomic_add_global(&done, 1);
}
task void middle(uniform int out[], uniform int at) {
    launch[5] leaf(out, at + taskIndex * 5);
    sync;
    for (uniform int k = 0; k < 5; ++k) assert(out[at + taskIndex * 5 + k] == (at + taskIndex * 5 + k) * (at + taskIndex * 5 + k));
}
task void top(uniform int out[]) {
    launch[4] middle(out, taskIndex * 20);
}
export void f(uniform int out[], uniform int total[]) {
    done = 0;
    launch[3] top(out);
    sync;
    total[0] = done;
}
