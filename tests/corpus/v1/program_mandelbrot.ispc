// A whole program: divergent loops over a picture.
export void f(uniform int out[], uniform int w, uniform int h, uniform int limit) {
    foreach (y = 0 ... h, x = 0 ... w) {
        float cr = -2 + 3.0f * x / w, ci = -1 + 2.0f * y / h;
        float zr = cr, zi = ci;
        int i;
        for (i = 0; i < limit; ++i) {
            if (zr * zr + zi * zi > 4) break;
            float r = zr * zr - zi * zi;
            float m = 2 * zr * zi;
            zr = cr + r;
            zi = ci + m;
        }
        out[y * w + x] = i;
    }
}
// call: f(out=zeros:i32:96, w=12, h=8, limit=30)
