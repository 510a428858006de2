// Many tasks print; the lines come in any order, but whole.
//~ run: f(out=zeros:1) out[0] == 64
task void one(uniform int out[]) {
    print("task % and its lanes % %\n", taskIndex, programIndex, programIndex * taskIndex);
    atomic_add_global(&out[0], 1);
}
export void f(uniform int out[]) { launch[64] one(out); }
