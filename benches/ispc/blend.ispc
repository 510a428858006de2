// One picture of bytes over another, by a third one of opacities: 16-bit arithmetic.
export void blend(uniform int n, const uniform uint8 over[], const uniform uint8 opacity[], uniform uint8 under[]) {
    foreach (i = 0 ... n) {
        uint16 a = opacity[i];
        uint16 sum = a * over[i] + (255 - a) * under[i] + 128;
        under[i] = (uint8)((sum + (sum >> 8)) >> 8);
    }
}
