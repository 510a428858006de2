// A return takes the visited lane out of the function; the others go on.
//~ run: f() after[i] == (i < W && i % 2 == 1)
export void f(uniform int after[]) {
    foreach_active (lane) {
        if (lane % 2 == 0) return;
    }
    after[programIndex] = 1;
}
