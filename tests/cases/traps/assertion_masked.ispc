// Only active lanes count.
//~ run: f()
//~   trap[W==1]: assertion lane=0
//~   trap[W>1]: assertion lane=W-1
export void f() {
    if (programIndex == programCount - 1) assert(programIndex < 0);
}
