// Sizes of the basic types, uniform ones.
//~ run: f() out[i] == i < 8 ? 1 << i / 2 : i == 8 ? 2 : i == 9 ? 4 : i == 10 ? 8 : i == 11 ? 40 : 0
export void f(uniform int out[]) {
    out[0] = sizeof(uniform int8);   out[1] = sizeof(uniform uint8);
    out[2] = sizeof(uniform int16);  out[3] = sizeof(uniform uint16);
    out[4] = sizeof(uniform int32);  out[5] = sizeof(uniform float);
    out[6] = sizeof(uniform int64);  out[7] = sizeof(uniform double);
    out[8] = sizeof(uniform float16);
    out[9] = sizeof(uniform uint32);
    out[10] = sizeof(uniform uint64);
    out[11] = sizeof(uniform int[10]);
}
