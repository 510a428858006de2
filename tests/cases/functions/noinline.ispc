// Nor does `noinline`.
//~ run: f() out[i] == i * 3
noinline int triple(int x) { return x * 3; }
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) out[i] = triple(i);
}
