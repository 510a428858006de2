// Tasks, each with its index.
//~ run: f(n=20) out[i] == (i < 20 ? i * 10 + 20 : 0)
task void one(uniform int out[]) { out[taskIndex] = taskIndex * 10 + taskCount; }
export void f(uniform int n, uniform int out[]) {
    launch[n] one(out);
}
