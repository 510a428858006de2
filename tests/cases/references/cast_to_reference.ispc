// A cast to a reference names the same variable, with or without `const`.
//~ run: f() result == 7 + 8; out[i] == (i < W ? i + 5 : 0)
struct V2 { float x, y; };
static uniform float sum(const uniform V2 &v) { return v.x + v.y; }
static const uniform V2 &same(const uniform V2 &v) { return (const uniform V2 &) v; }
static void shift(const V2 &v) { ((V2 &)v).x += 5; }
export uniform float f(uniform float out[]) {
    uniform V2 t = { 7, 0 };
    ((uniform V2 &)t).y = 8;
    V2 lanes = { programIndex, 1 };
    shift(lanes);
    out[programIndex] = lanes.x;
    return sum(same((const uniform V2 &) t));
}
