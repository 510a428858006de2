// `unsigned` may stand before a typedef's name, in casts too.
//~ run: f(x=-1) result == 4294967295; out[0] == 255
typedef int32 int32_type;
typedef int8 small;
export uniform uint64 f(uniform int x, uniform int out[]) {
    unsigned small s = (unsigned small)(-1);
    out[0] = extract((int)s, 0);
    return (uniform unsigned int32_type)(x);
}
