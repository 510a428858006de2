// Members and elements lie where their alignment puts them; a varying vector has no gaps.
//~ run: f(a=iota:32) out[0] == 4; out[1] == 5; out[2] == 16; out[3] == 16; out[4] == 32; out[5] == 2; out[6] == 48
struct Vertex { float w; float<3> p; double<2> t; };
export void f(uniform float<2> a[], uniform int out[]) {
    out[0] = a[1].x;                                   // the second vector begins at the fifth float
    out[1] = a[1].y;
    out[2] = (uniform int64)((uniform int8 *uniform)&a[1] - (uniform int8 *uniform)&a[0]);
    uniform Vertex v;
    uniform int8 *uniform start = (uniform int8 *uniform)&v;
    out[3] = (uniform int8 *uniform)&v.p - start;
    out[4] = (uniform int8 *uniform)&v.t - start;
    varying int<2> both = { 1, 2 };
    varying int *uniform first = &both[0];
    out[5] = extract(first[1], 0);
    out[6] = sizeof(uniform Vertex) - 16;
}
