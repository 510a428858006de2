namespace space {
    int x;
}
class Thing { int a; };
union Both { int i; float f; };
using Number = int;
template <class T> T twice(T x) { return x + x; }
template <typename T> struct Box { T value; };
struct S {
    int a = 3;
    int get() { return a; }
};
void f(int &&x, int n, ...) {
    int y = int(x);
    int z = std::max(x, n);
    int w{3};
    S s = {.a = 1};
    float<3> v = (float<3>){1, 2, 3};
}
