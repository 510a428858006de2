struct S { int x; };
export void f(float<3> v, S s) {
    if (v < 1) { }
    while (s) { }
    float y = s ? 1 : 2;
    bool b = !s;
    float<3> z = v < 1 ? v : 2;
}
