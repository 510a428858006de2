// Bytes divided by constants: each quotient and remainder is that of 32 bits, for every byte.

//~ run: signed(q=fill(0):2816, r=fill(0):2816, bad=fill(0):1) bad[i] == 0
//~ run: unsigned_(q=fill(0):2560, r=fill(0):2560, bad=fill(0):1) bad[i] == 0
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
export void signed(uniform int8 q[], uniform int8 r[], uniform int bad[]) {
    DIVIDE(0, 3)
    DIVIDE(1, 7)
    DIVIDE(2, -7)
    DIVIDE(3, 10)
    DIVIDE(4, 127)
    DIVIDE(5, -127)
    DIVIDE(6, -128)
    DIVIDE(7, -1)
    DIVIDE(8, 16)
    DIVIDE(9, -3)
    DIVIDE(10, 100)
}
#undef BYTE

#define BYTE unsigned int8
export void unsigned_(uniform unsigned int8 q[], uniform unsigned int8 r[], uniform int bad[]) {
    DIVIDE(0, 3)
    DIVIDE(1, 7)
    DIVIDE(2, 10)
    DIVIDE(3, 127)
    DIVIDE(4, 129)
    DIVIDE(5, 255)
    DIVIDE(6, 254)
    DIVIDE(7, 128)
    DIVIDE(8, 1)
    DIVIDE(9, 85)
}
