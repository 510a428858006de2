// With twice.ispc a program of two sources.
extern uniform int twice(uniform int x);
export uniform int f(uniform int x) { return twice(x) + 1; }
