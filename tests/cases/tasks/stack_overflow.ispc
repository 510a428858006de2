// A recursion without end in a task; what runs in tasks may nest as deep as anywhere.
//~ run: f(n=4, out=zeros:8)
//~   trap: stack_overflow line=deeper message=(task 2 of `one`)
//~   also: out[0] == 1000
static noinline uniform int down(uniform int n, uniform int last) {
    if (n == last) return n;
    return down(n + 1, last); //~ line: deeper
}
task void one(uniform int out[]) {
    if (taskIndex >= 2) out[taskIndex] = down(0, -1);
    else out[taskIndex] = down(0, 1000);
}
export void f(uniform int n, uniform int out[]) { launch[n] one(out); }
