// A generation of the game of life on bytes.
export void life(uniform int width, uniform int height, const uniform uint8 from[], uniform uint8 to[]) {
    for (uniform int y = 1; y < height - 1; ++y) {
        foreach (x = 1 ... width - 1) {
            int at = y * width + x;
            uint8 around = from[at - width - 1] + from[at - width] + from[at - width + 1] + from[at - 1] + from[at + 1] +
                           from[at + width - 1] + from[at + width] + from[at + width + 1];
            to[at] = (around == 3 || (around == 2 && from[at] == 1)) ? 1 : 0;
        }
    }
}
