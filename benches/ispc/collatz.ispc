// The length of the way of each number to 1: a long loop that lanes leave at very different times.
export void collatz(uniform int n, uniform int steps[]) {
    foreach (i = 0 ... n) {
        uint32 x = (uint32)i + 1;
        int count = 0;
        while (x != 1) {
            if ((x & 1) != 0)
                x = 3 * x + 1;
            else
                x >>= 1;
            ++count;
        }
        steps[i] = count;
    }
}
