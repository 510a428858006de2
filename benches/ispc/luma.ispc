// The brightness of pixels of three bytes each, in fixed point.
export void luma(uniform int n, const uniform uint8 rgb[], uniform uint8 grey[]) {
    foreach (i = 0 ... n) {
        int red = rgb[3 * i], green = rgb[3 * i + 1], blue = rgb[3 * i + 2];
        grey[i] = (uint8)((77 * red + 150 * green + 29 * blue + 128) >> 8);
    }
}
