// The median of nine bytes around each pixel: columns are sorted, then the middle of their ends and middles is taken.
static inline void order(int &a, int &b) {
    int low = min(a, b);
    b = max(a, b);
    a = low;
}

static inline int middle(int a, int b, int c) {
    return max(min(a, b), min(max(a, b), c));
}

export void median(uniform int width, uniform int height, const uniform uint8 from[], uniform uint8 to[]) {
    foreach (y = 1 ... height - 1, x = 1 ... width - 1) {
        int at = y * width + x;
        int a0 = from[at - width - 1], a1 = from[at - 1], a2 = from[at + width - 1];
        int b0 = from[at - width], b1 = from[at], b2 = from[at + width];
        int c0 = from[at - width + 1], c1 = from[at + 1], c2 = from[at + width + 1];
        order(a0, a1); order(a1, a2); order(a0, a1);
        order(b0, b1); order(b1, b2); order(b0, b1);
        order(c0, c1); order(c1, c2); order(c0, c1);
        int of_low = max(max(a0, b0), c0);
        int of_middle = middle(a1, b1, c1);
        int of_high = min(min(a2, b2), c2);
        to[at] = (uint8)middle(of_low, of_middle, of_high);
    }
}
