// One lane after another, in ascending order.
export void f(uniform int out[]) {
    uniform int turn = 0;
    if (programIndex % 3 != 1) {
        foreach_active (lane) {
            out[lane] = 100 + turn;
            ++turn;
        }
    }
    out[programCount] = turn;
}
// call: f(out=zeros:i32:17)
