// Of varying vectors too, with floats.
//~ run: f() out[i] == (i < W ? floor(i * 0.5) + i * 0.25 + 1.0 : 0.0)
export void f(uniform float out[]) {
    float<2> a = { programIndex * 0.5, 1.5 };
    float<2> b = floor(a);
    float<2> c = { programIndex * 0.25, 0.0 };
    c = max(c, b * 0);
    out[programIndex] = b.x + b.y + c.x;
}
