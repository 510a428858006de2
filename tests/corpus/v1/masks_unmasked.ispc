// In `unmasked` all lanes are on; afterwards those that were.
export void f(uniform int out[]) {
    int seen = 0;
    if (programIndex < 2) {
        unmasked { seen = reduce_add(1 + 0 * programIndex); }
        out[programIndex] = seen + 10;
    }
    unmasked { out[programIndex + programCount] = seen; }
}
// call: f(out=zeros:i32:32)
