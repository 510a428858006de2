// Constants, computed from one another.
//~ run: f() result == 3 + 7 * 10
const uniform int a = 3;
const uniform int b = a * 2 + 1;
export uniform int f() { return a + b * 10; }
