// The sRGB transfer function (IEC 61966-2-1) for 8-bit components.

/// int float_to_srgb8(float x)
/// The sRGB component, 0 to 255, nearest to the linear intensity x; x is clamped to [0, 1], NaN gives 0.
static inline SHAPE int float_to_srgb8(SHAPE float x) {
    SHAPE float v = __op_min(__op_max(x, 0.0f), 1.0f);
    SHAPE float encoded = __op_select(v <= 0.0031308f, 12.92f * v, __op_fma(1.055f, pow(v, 1.0f / 2.4f), -0.055f));
    return (SHAPE int)__op_round_even(255.0f * encoded);
}

/// float srgb8_to_float(int component)
/// The linear intensity, 0 to 1, of an sRGB component; the component is clamped to 0 to 255.
static inline SHAPE float srgb8_to_float(SHAPE int component) {
    SHAPE int clamped = __op_min(__op_max(component, (uniform int)0), (uniform int)255);
    SHAPE float v = (SHAPE float)clamped / 255.0f;
    return __op_select(v <= 0.04045f, v / 12.92f, pow((v + 0.055f) / 1.055f, 2.4f));
}
