// Members of `a[i]` through a reference are in bounds just where `a[i]` is, in compiled loops too.
struct Point { uniform float x, y, z; };
static inline void turn(uniform Point &p) {
    uniform float x = p.x;
    p.x = -p.y;
    p.y = x;
    p.z += 1; //~ line: last
}

//~ run: all(p=iota:300, first=0, n=100) p[i] == (i % 3 == 0 ? -(i + 1) : i % 3 == 1 ? i - 1 : i + 1)
//~ run: all(p=iota:300, first=40, n=60) p[i] == (i < 120 ? i : i % 3 == 0 ? -(i + 1) : i % 3 == 1 ? i - 1 : i + 1)
//~ run: all(p=iota:299, first=0, n=100) p[i] == (i % 3 == 0 ? -(i + 1) : i % 3 == 1 ? i - 1 : i > 297 ? i : i + 1)
//~   trap: out_of_bounds line=last
//~ run: all(p=iota:300, first=0, n=101) p[i] == (i % 3 == 0 ? -(i + 1) : i % 3 == 1 ? i - 1 : i + 1)
//~   trap: out_of_bounds
//~ run: all(p=iota:300, first=-1, n=50) p[i] == i
//~   trap: out_of_bounds
//~ run: all(p=iota:300, first=2147483600, n=100) p[i] == i
//~   trap: out_of_bounds
export void all(uniform float p[], uniform int first, uniform int n) {
    uniform Point * uniform points = (uniform Point * uniform)p;
    for (uniform int i = 0; i < n; ++i)
        turn(points[first + i]);
}

// Farther and farther away, at last beyond what a pointer can tell: it is out of bounds from the first such round on.
//~ run: jumps(p=iota:300, n=40) result == 0
//~   trap: out_of_bounds
//~ run: jumps(p=iota:300, n=20) result == 190
export uniform int jumps(uniform float p[], uniform int n) {
    uniform Point * uniform points = (uniform Point * uniform)p;
    uniform int sum = 0, step = 0;
    for (uniform int i = 0; i < n; ++i) {
        turn(points[step]);
        step = i < 20 ? i : 1 << (i - 10);
        sum += i;
    }
    return sum;
}

// A pointer that is no pointer any more is none for its elements either, though these would lie in the array.
//~ run: back(p=iota:300, far=549755813888, n=50) p[i] == i
//~   trap: out_of_bounds
//~ run: back(p=iota:300, far=1200, n=50) p[i] == (i >= 150 ? i : i % 3 == 0 ? -(i + 1) : i % 3 == 1 ? i - 1 : i + 1)
export void back(uniform float p[], uniform int64 far, uniform int n) {
    uniform int8 * uniform bytes = (uniform int8 * uniform)p + far;
    uniform Point * uniform points = (uniform Point * uniform)(bytes - far);
    for (uniform int i = 0; i < n; ++i)
        turn(points[i]);
}
