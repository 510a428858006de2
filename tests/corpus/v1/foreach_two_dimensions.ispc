// The inner dimension goes over the lanes.
export void f(uniform int out[], uniform int w, uniform int h) {
    foreach (y = 0 ... h, x = 0 ... w) out[y * w + x] = y * 1000 + x;
}
// call: f(out=zeros:i32:77, w=11, h=7)
// call: f(out=zeros:i32:9, w=1, h=9)
