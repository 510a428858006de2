// Tiles visit each element once.
export void f(uniform int out[], uniform int w, uniform int h, uniform int d) {
    foreach_tiled (z = 0 ... d, y = 0 ... h, x = 0 ... w) out[(z * h + y) * w + x] += z * 100 + y * 10 + x;
}
// call: f(out=zeros:i32:105, w=7, h=5, d=3)
