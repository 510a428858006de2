// An array of length 0 with an initialiser is as long as that.
//~ run: f() result == 6 + 3 + 1000 * (12 + 3)
static const uniform float table[0] = { 4, 5, 6 };
export uniform int f() {
    uniform float s[0] = { 0, 0, 3 };
    uniform int8 text[0] = "ab";
    return table[2] + s[2] + 1000 * (int)(sizeof(s) + sizeof(text));
}
