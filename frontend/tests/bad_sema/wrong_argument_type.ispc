struct S { int i; };
void take(S s, uniform int n) { }
export void f(float x) {
    take(x, 3);
    S s;
    take(s, x);
}
