// Lanes inside tasks.
//~ run: f() out[i] == i * 2
task void part(uniform int out[]) {
    foreach (i = taskIndex * 16 ... (taskIndex + 1) * 16) out[i] = i * 2;
}
export void f(uniform int out[]) { launch[4] part(out); }
