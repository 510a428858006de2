// The fast Walsh-Hadamard transform, in place; n is a power of two.
export void walsh(uniform int n, uniform float x[]) {
    for (uniform int half = 1; half < n; half *= 2) {
        if (half < programCount) {
            foreach (pair = 0 ... n / 2) {
                int at = 2 * pair - (pair & (half - 1));
                float a = x[at], b = x[at + half];
                x[at] = a + b;
                x[at + half] = a - b;
            }
        } else {
            for (uniform int block = 0; block < n; block += 2 * half) {
                foreach (at = block ... block + half) {
                    float a = x[at], b = x[at + half];
                    x[at] = a + b;
                    x[at + half] = a - b;
                }
            }
        }
    }
}
