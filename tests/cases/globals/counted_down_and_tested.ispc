// A counter in memory is tested before it is stored: the test is of the new value, and the store happens either way.
//~ run: f(n=50, out=zeros:64, left=[7, 3]:2) out[i] == (i < 50 ? (i % 7 == 6 ? 100 : 0) + (i % 3 == 2 ? 10 : 0) : 0); left[0] == 6; left[1] == 1
export void f(uniform int n, uniform int out[], uniform int left[]) {
    for (uniform int i = 0; i < n; ++i) {
        uniform int sevens = left[0] - 1, threes = left[1] - 1;
        uniform int found = 0;
        if (sevens == 0)
            found = 100;
        left[0] = sevens;
        if (threes == 0)
            found += 10;
        left[1] = threes;
        if (found >= 100)
            left[0] = 7;
        if (found % 100 != 0)
            left[1] = 3;
        out[i] = found;
    }
}
