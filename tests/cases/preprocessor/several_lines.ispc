// A backslash joins lines.
//~ run: f() result == 6
#define SUM \
    1 + \
    2 + 3
export uniform int f() { return SUM; }
