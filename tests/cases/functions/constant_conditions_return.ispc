// Branches that constants decide are the ones that have to return: no warning says that a function can end without.
//~ run: f(x=3) result == 3 + 2 + 5
static inline uniform int bytes_of_int() {
    if (sizeof(uniform int) == 2) {
        return 2;
    } else if (sizeof(uniform int) == 4) {
        return 5;
    }
}
static inline uniform int chosen(uniform int x) {
    if (false)
        x += 100;
    else
        return x;
}
static inline uniform int by_default() {
    if (sizeof(uniform int8) > 1)
        return 1;
    return 2;
}
export uniform int f(uniform int x) { return chosen(x) + by_default() + bytes_of_int(); }
