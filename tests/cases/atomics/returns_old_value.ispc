// Each lane gets the value before its own turn; lanes have their turns in ascending order.
//~ run: f() out[i] == (i < W ? i * (i + 1) / 2 : 0)
uniform int counter = 0;
export void f(uniform int out[]) {
    counter = 0;
    out[programIndex] = atomic_add_global(&counter, programIndex + 1);
}
