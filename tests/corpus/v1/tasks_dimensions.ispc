// Tasks in three dimensions, and tasks that launch tasks.
task void leaf(uniform int out[], uniform int at) { out[at] = 1000 + at; }
task void cell(uniform int out[]) {
    uniform int at = (taskIndex2 * taskCount1 + taskIndex1) * taskCount0 + taskIndex0;
    out[at] = taskIndex;
    if (at == 5) launch[1] leaf(out, 24 + at);
}
export void f(uniform int out[]) {
    launch[4, 3, 2] cell(out);
}
// call: f(out=zeros:i32:32)
