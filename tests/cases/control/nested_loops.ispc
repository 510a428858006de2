// Three nested loops with bounds that differ from lane to lane.
//~ run: f() out[i] == (i % 4) * (i % 3) * (i % 5)
export void f(uniform int out[]) {
    foreach (i = 0 ... 64) {
        int n = 0;
        for (int a = 0; a < i % 4; ++a)
            for (int b = 0; b < i % 3; ++b)
                for (int c = 0; c < i % 5; ++c)
                    ++n;
        out[i] = n;
    }
}
