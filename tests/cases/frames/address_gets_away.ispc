// The address of a local struct is kept in a global: what others write through it is seen.
//~ run: f(n=40) out[0] == 40 * 3 + 39 * 20; out[1] == 2
struct Box { uniform int a; };
static uniform Box * uniform kept;
static void remember(uniform Box &b) { kept = &b; }
static void change(uniform int by) { kept->a += by; }
export void f(uniform int n, uniform int out[]) {
    uniform Box b;
    b.a = 0;
    remember(b);
    uniform int sum = 0;
    for (uniform int i = 0; i < n; ++i) {
        b.a = i;
        change(3);
        sum += b.a;
    }
    out[0] = sum;
    b.a = 1;
    change(1);
    out[1] = b.a;
}
