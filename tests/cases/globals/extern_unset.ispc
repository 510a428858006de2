// An `extern` variable that the host has not supplied traps where an active lane accesses it, and nowhere else.
//~ run: f(n=0) out[i] == (i < W ? i : 0)
//~ run: f(n=W)
//~ trap: unbound_extern lane=0 line=READ message=table
//~ run: write(n=0) out[0] == 1
//~ run: write(n=2) out[0] == 1
//~ trap: unbound_extern lane=W-1 line=WRITE message=counts
extern const uniform float table[];
extern varying int counts[4];
export void f(uniform float out[], uniform int n) {
    float x = programIndex;
    if (programIndex < n)
        x = table[programIndex]; //~ line: READ
    out[programIndex] = x;
}
export void write(uniform int out[], uniform int n) {
    out[0] = 1;
    if (programIndex == programCount - 1 && n > 1)
        counts[n] = 5; //~ line: WRITE
}
