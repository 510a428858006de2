// A macro with parameters.
//~ run: f(x=3) result == 3 * 3 + 1
#define SQUARE(v) ((v) * (v))
#define NEXT(v) (SQUARE(v) + 1)
export uniform int f(uniform int x) { return NEXT(x); }
