// Every packed dot product of operands with both signs in every element, exactly.
//~ run: f(a=0x80ff7f01, b=0xff80027f, c=1000) r[0] == 1000 - 32387; r[1] == 1000 + 65661; r[2] == 1000 + 637
//~ also: r[3] == 1000 + 24937471; r[4] == i32(1000 + 2180744191); r[5] == 1000 + 16548863
//~ also: v[i] == (i < W ? i - 32387 + 637 + 24937471 + 16548863 : 0)
export void f(uniform uint32 a, uniform uint32 b, uniform int c, uniform int r[], uniform int v[]) {
    r[0] = dot4add_u8i8packed(a, b, c);
    r[1] = dot4add_u8u8packed(a, b, (uniform uint32)c);
    r[2] = dot4add_i8i8packed(a, b, c);
    r[3] = dot2add_i16i16packed(a, b, c);
    r[4] = dot2add_u16u16packed(a, b, (uniform uint32)c);
    r[5] = dot2add_u16i16packed(a, b, c);
    uint32 x = a, y = b;
    v[programIndex] = dot4add_u8i8packed(x, y, programIndex) + dot4add_i8i8packed(x, y, 0)
        + dot2add_i16i16packed(x, y, 0) + dot2add_u16i16packed(x, y, 0);
}
