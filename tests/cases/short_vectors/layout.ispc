// A uniform vector has room for a power of two of components, at least four, and is aligned to its size; that of ISPC.
//~ run: f() s[0] == 16; s[1] == 16; s[2] == 16; s[3] == 32; s[4] == 32; s[5] == 32; s[6] == 32; s[7] == 4; s[8] == 4; s[9] == 8
//~   also: s[10] == 64; s[11] == 128; s[12] == 8 * W; s[13] == 24 * W; s[14] == 32; s[15] == 4
struct Small { int8 tag; float<2> p; int8 end; };
export void f(uniform int s[]) {
    s[0] = sizeof(uniform int<1>);
    s[1] = sizeof(uniform int<2>);
    s[2] = sizeof(uniform float<3>);
    s[3] = sizeof(uniform double<2>);
    s[4] = sizeof(uniform double<3>);
    s[5] = sizeof(uniform float<5>);
    s[6] = sizeof(uniform int64<4>);
    s[7] = sizeof(uniform int8<2>);
    s[8] = sizeof(uniform bool<3>);
    s[9] = sizeof(uniform float16<2>);
    s[10] = sizeof(uniform float<16>);
    s[11] = sizeof(uniform double<9>);
    s[12] = sizeof(varying int<2>);
    s[13] = sizeof(varying double<3>);
    s[14] = sizeof(uniform int<2>[2]);
    s[15] = sizeof(uniform Small) / 12;
}
