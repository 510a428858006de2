// Numbers of 16 bits are unpacked, scaled and packed again.
export void halves(uniform int n, uniform float scale, const uniform uint16 from[], uniform uint16 to[]) {
    foreach (i = 0 ... n) {
        float x = half_to_float(from[i]);
        to[i] = (uint16)float_to_half(x * scale + 0.25f);
    }
}
