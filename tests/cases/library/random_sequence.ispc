// The numbers are those of LFSR113 with mixed seeds, whatever the width; a float is the upper 24 bits.
//~ run: f() u[0] == 1329745675; u[1] == 2882540099; u[2] == 4253442879; u[3] == 261860887; u[4] == 0; x[0] == (201287107 / 256) / 16777216.0
//~ also: v[0] == 3337528796; v[1] == (W > 1 ? 2565606528 : 0); v[2] == (W > 2 ? 3361485218 : 0); v[3] == (W > 3 ? 1686858087 : 0)
//~ also: second[0] == 2192841944; second[3] == (W > 3 ? 764561298 : 0)
export void f(uniform uint32 u[], uniform float x[], uniform uint32 v[], uniform uint32 second[]) {
    uniform RNGState one;
    seed_rng(&one, 17u);
    for (uniform int i = 0; i < 4; ++i)
        u[i] = random(&one);
    x[0] = frandom(&one);
    RNGState each;
    seed_rng(&each, (uint32)programIndex);
    v[programIndex] = random(&each);
    second[programIndex] = random(&each);
}
