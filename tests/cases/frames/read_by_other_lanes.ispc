// What lanes that were inactive at a store hold is still read: by a shuffle, in the else part, after the if, with all lanes on.
//~ run: f(n=40) out[i] == (i < W ? 40 * (i % 2 == 0 ? 10 + i : 100) : 0); all[i] == (i < W ? (i % 2 == 0 ? 10 + i : 100) : 0)
struct Box { int a; };
static void fill(Box &b) {
    b.a = 100;
    if (programIndex % 2 == 0)
        b.a = 10 + programIndex;
}
export void f(uniform int n, uniform int out[], uniform int all[]) {
    int sum = 0;
    for (uniform int i = 0; i < n; ++i) {
        Box b;
        fill(b);
        if (programIndex % 2 == 0) {
            unmasked {
                all[programIndex] = b.a;
            }
            sum += b.a;
        } else {
            sum += b.a;
        }
    }
    out[programIndex] = sum;
}
