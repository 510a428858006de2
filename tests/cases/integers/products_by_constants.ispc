// A product by a constant is the same as by a variable with that value, whatever it is made of.
//~ run: f(by=[3, 5, 7, 9, 12, 14, 24, 31, 96, 2147483647, -3, -7, -1, 65537, 11, 1073741825], out=zeros:128, n=128) out[i] == 0
//~ run: g(out=zeros:64, n=64) out[i] == i * 7
#define DIFFERS(type, a, factor, at) ((type)(a) * (type)(factor) != (type)(a) * (type)by[at])
#define ALL(type, a)                                                                                                \
    if (DIFFERS(type, a, 3, 0)) ++bad;                                                                              \
    if (DIFFERS(type, a, 5, 1)) ++bad;                                                                              \
    if (DIFFERS(type, a, 7, 2)) ++bad;                                                                              \
    if (DIFFERS(type, a, 9, 3)) ++bad;                                                                              \
    if (DIFFERS(type, a, 12, 4)) ++bad;                                                                             \
    if (DIFFERS(type, a, 14, 5)) ++bad;                                                                             \
    if (DIFFERS(type, a, 24, 6)) ++bad;                                                                             \
    if (DIFFERS(type, a, 31, 7)) ++bad;                                                                             \
    if (DIFFERS(type, a, 96, 8)) ++bad;                                                                             \
    if (DIFFERS(type, a, 2147483647, 9)) ++bad;                                                                     \
    if (DIFFERS(type, a, -3, 10)) ++bad;                                                                            \
    if (DIFFERS(type, a, -7, 11)) ++bad;                                                                            \
    if (DIFFERS(type, a, -1, 12)) ++bad;                                                                            \
    if (DIFFERS(type, a, 65537, 13)) ++bad;                                                                         \
    if (DIFFERS(type, a, 11, 14)) ++bad;                                                                            \
    if (DIFFERS(type, a, 1073741825, 15)) ++bad;
export void f(uniform int by[], uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        int64 a = (int64)i * 6364136223846793005 + 1442695040888963407;
        int bad = 0;
        ALL(int32, a)
        ALL(unsigned int32, a)
        ALL(int64, a)
        ALL(unsigned int64, a)
        ALL(int16, a)
        out[i] = bad;
    }
}
export void g(uniform int64 out[], uniform int n) {
    foreach (i = 0 ... n) {
        int64 x = i;
        out[i] = x * 7;
    }
}
