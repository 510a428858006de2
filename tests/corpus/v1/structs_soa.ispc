// `soa` interleaves members by blocks; indices are the same.
struct Point { float x, y; };
export void f(uniform float out[], uniform int n) {
    soa<4> Point points[8];
    foreach (i = 0 ... n) {
        points[i].x = i;
        points[i].y = -i * 2;
    }
    foreach (i = 0 ... n) out[i] = points[n - 1 - i].x * 100 + points[i].y;
}
// call: f(out=zeros:f32:32, n=32)
