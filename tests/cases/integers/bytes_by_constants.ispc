// Bytes divided by constants: each quotient and remainder is that of 32 bits, for every byte.

//~ run: of_signed(q=fill(0):1280, r=fill(0):1280, bad=fill(0):1) bad[i] == 0
//~ run: of_unsigned(q=fill(0):1280, r=fill(0):1280, bad=fill(0):1) bad[i] == 0
#define DIVIDE(at, d)                                                 \
    foreach (i = 0 ... 256) {                                         \
        BYTE x = (BYTE)i;                                             \
        q[(at) * 256 + i] = x / (BYTE)(d);                            \
        r[(at) * 256 + i] = x % (BYTE)(d);                            \
    }                                                                 \
    foreach (i = 0 ... 256) {                                         \
        int x = (BYTE)i;                                              \
        int quotient = x / (d), rest = x % (d);                       \
        if (q[(at) * 256 + i] != (BYTE)quotient || r[(at) * 256 + i] != (BYTE)rest) \
            bad[0] = (at) + 1;                                        \
    }

#define BYTE int8
export void of_signed(uniform int8 q[], uniform int8 r[], uniform int bad[]) {
    DIVIDE(0, 3)
    DIVIDE(1, 7)
    DIVIDE(2, -7)
    DIVIDE(3, -128)
    DIVIDE(4, 100)
}
#undef BYTE

#define BYTE unsigned int8
export void of_unsigned(uniform unsigned int8 q[], uniform unsigned int8 r[], uniform int bad[]) {
    DIVIDE(0, 3)
    DIVIDE(1, 10)
    DIVIDE(2, 129)
    DIVIDE(3, 255)
    DIVIDE(4, 85)
}
