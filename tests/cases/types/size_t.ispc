// size_t and its relatives are 64-bit integers.
//~ run: f() result == 8 + 8 + 8 + 8
export uniform int f() {
    return sizeof(uniform size_t) + sizeof(uniform ptrdiff_t) + sizeof(uniform intptr_t) + sizeof(uniform uintptr_t);
}
