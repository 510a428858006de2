#define CHECK(x) if (x > ) { }
void f(int a) {
    CHECK(a)
    a = 1;
}
