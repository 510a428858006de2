// The numbers are those of ISPC: LFSR113 from its four seeds, whatever the width; a float is the lower 23 bits.
// (Expectations: another program, from the published recurrence.)
//~ run: f() u[0] == 4084617576; u[1] == 2633959350; u[2] == 3006661896; u[3] == 2413909946; u[4] == 26239304; u[5] == 0; x[0] == (3202226250 % 8388608) / 8388608.0
//~ also: v[0] == 4223647784; v[1] == (W > 1 ? 4215230760 : 0); v[2] == (W > 2 ? 4206289448 : 0); v[3] == (W > 3 ? 4197872424 : 0); v[63] == (W > 63 ? 3838556105 : 0)
//~ also: second[0] == 4009689250; second[3] == (W > 3 ? 419336238 : 0)
export void f(uniform uint32 u[], uniform float x[], uniform uint32 v[], uniform uint32 second[]) {
    uniform RNGState one;
    seed_rng(&one, 17u);
    for (uniform int i = 0; i < 4; ++i)
        u[i] = random(&one);
    x[0] = frandom(&one);
    seed_rng(&one, 0xdeadbeefu);
    for (uniform int i = 0; i < 1000; ++i)
        u[4] = random(&one);
    RNGState each;
    seed_rng(&each, (uint32)programIndex);
    v[programIndex] = random(&each);
    second[programIndex] = random(&each);
}
