// Structs in structs, arrays in structs, and a function that gives one.
struct Inner { int a; float b[3]; };
struct Outer { Inner in; int c; };
Outer make(int k) {
    Outer o;
    o.in.a = k;
    for (uniform int i = 0; i < 3; ++i) o.in.b[i] = k * (i + 1);
    o.c = -k;
    return o;
}
export void f(uniform float out[]) {
    Outer o = make(programIndex);
    if (programIndex & 1) o.in.b[1] = 0.5f;
    out[programIndex] = o.in.a + o.in.b[0] + o.in.b[1] * 100 + o.in.b[2] * 1000 + o.c;
}
// call: f(out=zeros:f32:16)
