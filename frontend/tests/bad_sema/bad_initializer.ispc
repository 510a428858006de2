struct P { float x, y; };
export void f() {
    P p = { 1, 2, 3 };
    float a[2] = { 1, 2, 3 };
    uniform int u = { 1, 2 };
    float b[3] = 1;
    float<2> v = { 1, 2, 3 };
    varying int w = { 1, 2, 3 };
    P q = 3;
}
