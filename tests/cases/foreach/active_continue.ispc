// continue ends that lane's turn.
//~ run: f() out[i] == (i < W && i % 3 != 0)
export void f(uniform int out[]) {
    foreach_active (lane) {
        if (lane % 3 == 0) continue;
        out[lane] = 1;
    }
}
