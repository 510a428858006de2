// A cast to a reference to another type sees the same memory as that type.
//~ run: f() result == 3 * 100 + 20; out[i] == (i < W ? 1065353216 + i : 0)
struct Base { int kind; };
struct Sphere { Base base; int radius; };
static uniform int radius(const uniform Base &base) { return ((const uniform Sphere &)base).radius; }
static int bits(float &x) { return (varying int &)x; }
static void set_bits(float &x, int bits) { (varying int &)x = bits; }
export uniform int f(uniform int out[]) {
    uniform Sphere s = { { 3 }, 20 };
    float x = 1;
    set_bits(x, bits(x) + programIndex);
    out[programIndex] = intbits(x);
    return ((uniform Base &)s).kind * 100 + radius((uniform Base &)s);
}
//~ run: behind(a=[4, 5, 6]) result == 5
//~ run: behind(a=[4])
//~ trap: out_of_bounds
struct Pair { int first, second; };
export uniform int behind(uniform int a[]) { return ((uniform Pair &)a[0]).second; }
