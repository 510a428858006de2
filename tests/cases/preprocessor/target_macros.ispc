// The macros that programs may test, and the limits of the number types.
//~ run: f() out[0] == 1; out[1] == 31; out[2] == 64; out[3] == 32; out[4] == 4; out[5] == 1; out[6] == 1; out[7] == 0
//~ also: low[0] == -128; low[1] == -32768; low[2] == -2147483648; low[3] == (-9223372036854775807 - 1)
//~ also: high[0] == 127; high[1] == 32767; high[2] == 2147483647; high[3] == 9223372036854775807
//~ also: top[0] == 255; top[1] == 65535; top[2] == 4294967295; top[3] == 18446744073709551615
//~ also: x[0] == pow2(-14); x[1] == 65504; x[2] == pow2(-126); x[3] == pow2(128) - pow2(104); x[4] == pow2(-1022); x[5] == pow2(1023) * (2 - pow2(-52))
export void f(uniform int out[], uniform int64 low[], uniform int64 high[], uniform uint64 top[], uniform double x[]) {
    out[0] = ISPC_MAJOR_VERSION;
    out[1] = ISPC_MINOR_VERSION;
    out[2] = ISPC_POINTER_SIZE;
    out[3] = ISPC_MASK_BITS;
    out[4] = TARGET_ELEMENT_WIDTH;
#if defined(ISPC) && defined(SPMDVM) && defined(ISPC_TARGET_AVX2) && !defined(ISPC_TARGET_NEON)
    out[5] = 1;
#endif
#if defined(ISPC_FP64_SUPPORTED) && defined(ISPC_FP16_SUPPORTED) && defined(ISPC_UINT_IS_DEFINED)
    out[6] = 1;
#endif
#if LLVM_VERSION_MAJOR > 0
    out[7] = 1;
#endif
    low[0] = INT8_MIN;
    low[1] = INT16_MIN;
    low[2] = INT32_MIN;
    low[3] = INT64_MIN;
    high[0] = INT8_MAX;
    high[1] = INT16_MAX;
    high[2] = INT32_MAX;
    high[3] = INT64_MAX;
    top[0] = UINT8_MAX;
    top[1] = UINT16_MAX;
    top[2] = UINT32_MAX;
    top[3] = UINT64_MAX;
    x[0] = F16_MIN;
    x[1] = F16_MAX;
    x[2] = FLT_MIN;
    x[3] = FLT_MAX;
    x[4] = DBL_MIN;
    x[5] = DBL_MAX;
}
