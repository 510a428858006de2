// Lanes leave a loop when they are done; the last one decides (Collatz).
export void f(uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        int x = i + 1, steps = 0;
        while (x != 1) {
            x = (x & 1) ? 3 * x + 1 : x / 2;
            ++steps;
        }
        out[i] = steps;
    }
}
// call: f(out=zeros:i32:40, n=40)
