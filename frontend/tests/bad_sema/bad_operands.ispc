struct S { float x; };
export void f(float x, int i) {
    S a, b;
    S c = a + b;
    float r = x % 2;
    int j = i & x;
    bool t = true + true;
    float y = ~x;
}
