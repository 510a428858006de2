// The names of unsigned types.
//~ run: f() result == 255 + 65535
export uniform int64 f() {
    unsigned int8 a = 255;
    uniform unsigned int b = 0xffffffff;
    uint16 c = 65535;
    unsigned int64 d = b;
    return extract((int64)a, 0) + extract((int64)c, 0) + (uniform int64)(b - 0xffffffff) + extract((int64)d, 0) - 4294967295;
}
