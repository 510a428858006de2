// A range that ends at the greatest integer: the counter must not wrap.
//~ run: f() out[i] == (i < 37)
export void f(uniform int out[]) {
    uniform int first = 2147483647 - 37;
    foreach (i = first ... 2147483647) out[i - first] += 1;
}
