// `select` evaluates both values and picks lane by lane.
//~ run: f() out[i] == (i % 3 == 0 ? i : -i)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64)
        out[i] = select(i % 3 == 0, i, -i);
}
