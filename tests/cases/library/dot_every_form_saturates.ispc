// The saturating forms stop at both ends of the accumulator, and agree with the others within.
//~ run: f(a=0x80ff7f01, b=0xff80027f) high[0] == 2147483647; high[1] == 4294967295; high[2] == 2147483647; high[3] == 2147483647
//~ also: high[4] == 4294967295; high[5] == 2147483647; low[0] == -2147483648; low[1] == 637 - 2147483648; low[2] == -2147483648
//~ also: within[0] == -32387; within[1] == 65661; within[2] == 637; within[3] == 24937471; within[4] == 2180744191; within[5] == 16548863
export void f(uniform uint32 a, uniform uint32 b, uniform uint32 high[], uniform int low[], uniform int64 within[]) {
    const uniform int most = 2147483647, least = -2147483647 - 1;
    high[0] = dot4add_u8i8packed_sat(0xff, 0x7f, most);
    high[1] = dot4add_u8u8packed_sat(a, b, 4294967295u);
    high[2] = dot4add_i8i8packed_sat(a, b, most);
    high[3] = dot2add_i16i16packed_sat(a, b, most);
    high[4] = dot2add_u16u16packed_sat(a, b, 4294967295u);
    high[5] = dot2add_u16i16packed_sat(a, b, most);
    low[0] = dot4add_u8i8packed_sat(a, b, least);
    low[1] = dot4add_i8i8packed_sat(a, b, least);
    low[2] = dot2add_u16i16packed_sat(0xffff, 0x8000, least);
    within[0] = dot4add_u8i8packed_sat(a, b, 0);
    within[1] = dot4add_u8u8packed_sat(a, b, 0);
    within[2] = dot4add_i8i8packed_sat(a, b, 0);
    within[3] = dot2add_i16i16packed_sat(a, b, 0);
    within[4] = dot2add_u16u16packed_sat(a, b, 0);
    within[5] = dot2add_u16i16packed_sat(a, b, 0);
}
