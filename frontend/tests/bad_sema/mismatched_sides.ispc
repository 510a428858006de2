struct A { int x; };
struct B { int x; };
export void f(bool c) {
    A a;
    B b;
    a = b;
    A d = c ? a : b;
    float<3> v;
    float<4> w = v;
    float<3> s = v + w;
}
