// The body of `do` runs at least once for each lane.
export void f(uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        int x = i - 3, turns = 0;
        do {
            ++turns;
            --x;
        } while (x > 0);
        out[i] = turns;
    }
}
// call: f(out=zeros:i32:19, n=19)
