// In the mode fast a division by a root is a product with rsqrt; without one, in halves, or by a function of the program, it is none.
//~ fp: fast
//~ run: f(a=rand:35, b=rand:36) same[i] == 1; specials[0] == inf; specials[1] == 0; specials[2] == nan; own[i] == f32(a[i] / f32(b[i] + 2))
float sqrt(float x, float more) { return x + more; }

export void f(uniform float a[], uniform float b[], uniform int same[], uniform float specials[], uniform float own[]) {
    uniform float u = abs(a[0]) + 1;
    foreach (i = 0 ... 64) {
        float x = a[i], y = abs(b[i]) + 0.5;
        double p = x, q = y;
        bool is_same = x / sqrt(y) == x * rsqrt(y) & 1 / sqrt(y) == rsqrt(y) & p / sqrt(q) == p * rsqrt(q) & 1 / sqrt(q) == rsqrt(q);
        is_same = is_same & abs(x / sqrt(u) * sqrt(u) - x) <= abs(x) * 1e-6f;
        same[i] = is_same ? 1 : 0;
        own[i] = x / sqrt(b[i], 2);
    }
    uniform float zero = u - u;
    specials[0] = 1 / sqrt(zero);
    specials[1] = 1 / sqrt(1 / zero);
    specials[2] = 1 / sqrt(zero - 1);
}
