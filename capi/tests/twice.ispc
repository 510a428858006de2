// What main.ispc needs.
uniform int twice(uniform int x) { return 2 * x; }
