struct S { float x; };
float operator+(float a, float b) { return a; }
S operator-(S a, S b) { return a; }
export void f(S a, float y) { S c = a - y; c = -a; }
