#define TWO(a, b) a + b
uniform int x = 5 TWO(1); //~ error: E0010
