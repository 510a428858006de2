// A task through a pointer.
//~ run: f(which=0) out[i] == (i < 4 ? i + 1 : 0)
//~ run: f(which=1) out[i] == (i < 4 ? -i : 0)
//~ run: f(which=2)
//~   trap: bad_function
task void up(uniform int out[]) { out[taskIndex] = taskIndex + 1; }
task void down(uniform int out[]) { out[taskIndex] = -taskIndex; }
typedef task void (*Task)(uniform int[]);
export void f(uniform int which, uniform int out[]) {
    uniform Task run = NULL;
    if (which == 0) run = up;
    if (which == 1) run = down;
    launch[4] run(out);
}
