// The macros that are defined for every program: versions, capabilities, limits. A program may test and redefine them.
//~ run: f() out[0] == -128; out[1] == 127; out[2] == 255; out[3] == -32768; out[4] == 65535; out[5] == -2147483648
//~ also: out[6] == 4294967295; out[7] == -9223372036854775808; out[8] == 9223372036854775807; big[0] == 18446744073709551615
//~ also: x[0] == 6.103515625e-05; x[1] == 65504; x[2] == pow2(-126); x[3] == pow2(128) - pow2(104); x[4] == pow2(-1022); x[5] == pow2(1023) * (2 - pow2(-52)); x[6] == f32(3.1415926535)
#if !defined(ISPC) || !defined(SPMDVM) || ISPC_MAJOR_VERSION != 1 || ISPC_MINOR_VERSION < 31 || ISPC_POINTER_SIZE != 64
#error a version is missing
#endif
#if !defined(ISPC_UINT_IS_DEFINED) || !defined(ISPC_ATTRIBUTE_SUPPORTED) || !ISPC_TARGET_HAS_FP16_SUPPORT || !ISPC_FP64_SUPPORTED
#error a capability is missing
#endif
#ifdef ISPC_LLVM_INTRINSICS_ENABLED
#error there are no intrinsics
#endif
static_assert(TARGET_WIDTH == programCount, "the width");
export void f(uniform int64 out[], uniform uint64 big[], uniform double x[]) {
    out[0] = INT8_MIN; out[1] = INT8_MAX; out[2] = UINT8_MAX;
    out[3] = INT16_MIN; out[4] = UINT16_MAX;
    out[5] = INT32_MIN; out[6] = UINT32_MAX;
    out[7] = INT64_MIN; out[8] = INT64_MAX;
    big[0] = UINT64_MAX;
    x[0] = F16_MIN; x[1] = F16_MAX; x[2] = FLT_MIN; x[3] = FLT_MAX; x[4] = DBL_MIN; x[5] = DBL_MAX; x[6] = PI; //~ warning: W0214
}
