// All integer types.
//~ run: f(a=-128, b=255, c=-32768, d=65535, e=4294967295, g=-0x8000000000000000, h=0xffffffffffffffff)
//~   print: -128 255 -32768 65535 4294967295 -9223372036854775808 18446744073709551615
export void f(uniform int8 a, uniform uint8 b, uniform int16 c, uniform uint16 d, uniform uint32 e, uniform int64 g, uniform uint64 h) {
    print("% % % % % % %\n", a, b, c, d, e, g, h);
}
