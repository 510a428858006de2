// The bound changes while the loop runs.
export void f(uniform int out[]) {
    int bound = programIndex, turns = 0;
    for (int i = 0; i < bound; ++i) {
        if (i % 2 == 0 && bound < 12) ++bound;
        ++turns;
    }
    out[programIndex] = turns * 100 + bound;
}
// call: f(out=zeros:i32:16)
