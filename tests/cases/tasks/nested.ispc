// Tasks that launch tasks.
//~ run: f() out[i] == (i < 12 ? i + 1 : 0)
task void inner(uniform int out[], uniform int row) { out[row * 4 + taskIndex] = row * 4 + taskIndex + 1; }
task void outer(uniform int out[]) { launch[4] inner(out, taskIndex); }
export void f(uniform int out[]) { launch[3] outer(out); }
