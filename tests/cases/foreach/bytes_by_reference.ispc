// Bytes are put in order as `int`s by functions that take references: what each round leaves in the locals is seen by the next one only
// where that asks for it.
//~ run: middle(width=40, height=5, from=fill((i * 37 + i / 7) % 256):200, to=zeros:200) to[0] == 0
//~ run: kept(n=50, from=fill((i * 29) % 256):64, out=zeros:64) out[i] == (i >= 50 ? 0 : i < W ? 255 - (i * 29) % 256 : (i * 29) % 256)
static inline void order(int &a, int &b) {
    int low = min(a, b);
    b = max(a, b);
    a = low;
}

export void middle(uniform int width, uniform int height, const uniform uint8 from[], uniform uint8 to[]) {
    foreach (y = 1 ... height - 1, x = 1 ... width - 1) {
        int at = y * width + x;
        int a = from[at - width], b = from[at], c = from[at + width];
        order(a, b);
        order(b, c);
        order(a, b);
        to[at] = (uint8)b;
        int least = min(min((int)from[at - width], (int)from[at]), (int)from[at + width]);
        int most = max(max((int)from[at - width], (int)from[at]), (int)from[at + width]);
        assert(a == least && c == most);
        assert(b == (int)from[at - width] + from[at] + from[at + width] - least - most);
    }
}

export void kept(uniform int n, const uniform uint8 from[], uniform int out[]) {
    uniform int turn = 0;
    for (uniform int at = 0; at < n; at += programCount) {
        int i = at + programIndex;
        if (i < n) {
            int a = from[i], b = 255;
            order(a, b);
            out[i] = turn == 0 ? b - a : a;
        }
        turn++;
    }
}
