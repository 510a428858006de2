// Short vectors: by element, swizzled, with splats and operators.
export void f(uniform float out[]) {
    float<3> a = { programIndex, 2, 3 };
    float<3> b = a * 2 + a.zyx;
    b.y = 0.5f;
    out[programIndex] = b.x + b.y * 10 + b.z * 100;
}
// call: f(out=zeros:f32:16)
