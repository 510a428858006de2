// The program stops itself; what it did before stays.
//~ run: f() out[i] == (i < W)
//~   trap: abort line=here
export void f(uniform int out[]) {
    out[programIndex] = 1;
    abort(); //~ line: here
    out[programIndex] = 2;
}
