#define TWO(a, b) a + b
uniform int x = TWO(1); //~ error: E0010
