// Beyond the end of an allocation, in the lane whose is too short.
//~ run: f()
//~   trap: out_of_bounds lane=0
export void f() {
    int *p = new int[programIndex + 1];
    p[1] = 5;
}
