// A name for a vector type.
//~ run: f() result == 6.0
typedef float<3> float3;
static uniform float total(uniform float3 v) { return v.x + v.y + v.z; }
export uniform float f() {
    uniform float3 v = { 1, 2, 3 };
    return total(v);
}
