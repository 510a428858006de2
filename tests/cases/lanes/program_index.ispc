// The lane's number.
//~ run: f() out[i] == (i < W ? i : 0)
export void f(uniform int out[]) { out[programIndex] = programIndex; }
